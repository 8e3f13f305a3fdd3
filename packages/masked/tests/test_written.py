"""Writes into what a masked tensor was made of: no gradient is silently that of other numbers."""

from __future__ import annotations

import pytest
from written_kinds import Case, Kind, cases, judge

import taeda
from taeda.masked import as_masked_tensor

B = taeda.arange(16, dtype=taeda.float64).reshape(4, 4) / 7 - 1
CALLS = {
    "itself": lambda x: x,
    "square": lambda x: x * x,
    "sin": lambda x: x.sin(),
    "neg": lambda x: -x,
    "by number": lambda x: x * 3,
    "by dense": lambda x: x * B,
    "add": lambda x: x + x,
    "t": lambda x: x.t() * x.t(),
    "sum": lambda x: x.sum(1),
    "softmax": lambda x: x.softmax(-1),
    "to_tensor": lambda x: x.to_tensor(0.0),
    "index": lambda x: x[1] * x[1],
    "select": lambda x: x.select(0, 0),
    "cat": lambda x: taeda.cat([x, x]),
}
MASK = {"mask": lambda: taeda.arange(16).reshape(4, 4) % 3 != 0}
KINDS = [
    Kind("masked", (4, 4), lambda values, parts: as_masked_tensor(values, parts["mask"]), MASK)
]


@pytest.mark.parametrize("case", cases(KINDS), ids=str)
def test_gradients_know_of_writes_or_are_refused(case: Case) -> None:
    right, refused, wrong = judge(case, CALLS)
    assert not wrong
    if case.write == "mul" and case.is_before:
        assert refused > 10
        assert not right
    if case.write == "unrecorded" and case.is_before:
        assert right > 10
        assert not refused
