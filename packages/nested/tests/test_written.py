"""Writes into what a nested tensor was made of: no gradient is silently that of other numbers."""

from __future__ import annotations

import pytest
from written_kinds import Case, Kind, cases, judge

import taeda
from taeda import nested

B = taeda.arange(16, dtype=taeda.float64).reshape(4, 4) / 7 - 1
CALLS = {
    "itself": lambda x: x,
    "square": lambda x: x * x,
    "sin": lambda x: x.sin(),
    "by number": lambda x: x * 3,
    "add": lambda x: x + x,
    "transpose": lambda x: x.transpose(1, 2) * x.transpose(1, 2),
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(1),
    "product": lambda x: x @ B,
    "softmax": lambda x: x.softmax(-1),
    "values": lambda x: x.values() ** 2,
    "values as they are": lambda x: x.values(),
    "index": lambda x: x[1] * x[1],
    "select": lambda x: x.select(0, 0),
    "unbind": lambda x: [piece * piece for piece in x.unbind()],
    "unbind as it is": lambda x: x.unbind(),
    "padded": lambda x: x.to_padded_tensor(0.0) ** 2,
    "slice": lambda x: x[..., :2],
}


def _jagged(values, parts):
    return nested.nested_tensor_from_jagged(values, parts["offsets"], parts.get("lengths"))


def _narrow(values, parts):
    start, length = taeda.tensor([0, 1]), taeda.tensor([2, 1])
    return nested.narrow(values, 1, start, length, layout=taeda.jagged)


OFFSETS = {"offsets": lambda: taeda.tensor([0, 2, 6])}
LENGTHS = {"lengths": lambda: taeda.tensor([1, 3])}
KINDS = [
    Kind("jagged", (6, 4), _jagged, OFFSETS),
    Kind("holes", (6, 4), _jagged, OFFSETS | LENGTHS),
    Kind("rows", (2, 3, 4), lambda v, _: nested.as_nested_tensor(v, layout=taeda.jagged)),
    Kind("narrow", (2, 3, 4), _narrow),
    Kind("strided", (2, 3, 4), lambda v, _: nested.as_nested_tensor(v)),
]


@pytest.mark.parametrize("case", cases(KINDS), ids=str)
def test_gradients_know_of_writes_or_are_refused(case: Case) -> None:
    right, refused, wrong = judge(case, CALLS)
    assert not wrong
    is_shared = case.kind.name != "strided"
    if is_shared and case.write == "mul" and case.is_before:
        assert refused > 12
        assert not right
    elif case.is_before and case.write != "add":
        assert right > 8
        assert not refused


def test_a_write_into_the_tensor_itself_is_no_write_into_its_source():
    x = taeda.ones(4, 2, requires_grad=True)
    made = nested.nested_tensor_from_jagged(x * 1, taeda.tensor([0, 1, 4]))
    with taeda.no_grad():
        made.mul_(3)
    (made * made).sum().backward()
    assert x.grad.tolist() == [[6.0, 6.0]] * 4
