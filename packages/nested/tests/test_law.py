"""The law of nested tensors: the tensors of op(nested) equal op of each tensor, or the call is refused; over
the op table's samples, with each tensor of a call nested in turn, and all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from samples import ROWS, Sample, samples

import taeda
from taeda import Tensor
from taeda._native import core

DTYPES = ("float32", "int64", "bool")
#: rows whose results say nothing of the elements
UNSAID = {"empty_like", "new_empty"}
#: no sample has what the rule takes; tests of rules have
BY_HAND = {
    "addcdiv", "addcmul", "cat", "expand", "expand_as", "permute", "reshape", "reshape_as",
    "scaled_dot_product_attention",
    "squeeze.dims", "swapaxes", "unbind.int", "view", "view_as",
}  # fmt: skip
RANDOM = {name for name, row in ROWS.items() if row.random}
REFUSALS = (RuntimeError, TypeError, IndexError, ValueError, AttributeError, BufferError)


def _sequences(x: Tensor) -> list[Tensor]:
    """What is nested of a tensor of a sample: itself, and a longer one; both as one stand last."""
    longer = taeda.cat([x, x[:1]])
    return [x, longer, taeda.cat([x, longer])]


class _Pick:
    """Nests the tensor of one number, or all (-1); keeps what each sequence has in its place."""

    def __init__(self, number: int, which: int | None, offsets: dict[int, Tensor]) -> None:
        self.number, self.which, self.offsets = number, which, offsets
        self.count = self.changed = 0

    def __call__(self, x: Tensor) -> Any:
        self.count += 1
        if self.number not in (-1, self.count - 1) or not x.dim() or not x.shape[0]:
            return x.clone()
        self.changed += 1
        pieces = _sequences(x)
        if self.which is not None:
            return pieces[self.which].clone()
        ends = [0, len(pieces[0]), len(pieces[0]) + len(pieces[1])]
        offsets = self.offsets.setdefault(ends[1], taeda.tensor(ends))
        return taeda.nested.nested_tensor_from_jagged(pieces[2], offsets)


def _cases(row: str, dtype: str) -> Iterator[tuple[Sample, Any, list[Any]]]:
    for sample in samples(row, dtype):
        for number in (-1, *range(len(sample.tensors()))):
            offsets: dict[int, Tensor] = {}
            pick = _Pick(number, None, offsets)
            given = sample.map(pick)
            if pick.changed:
                yield sample, given, [sample.map(_Pick(number, w, offsets)) for w in (0, 1, 2)]


def _equal(a: Any, b: Any) -> bool:
    if isinstance(b, Tensor):
        same = isinstance(a, Tensor) and a.shape == b.shape and a.dtype is b.dtype
        return same and taeda.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
    if isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_equal, a, b))
    return bool(a == b or (a != a and b != b))


def _split(made: Any) -> Any:
    """The results of each sequence, of a result of the batch."""
    if isinstance(made, Tensor):
        return list(made.unbind(0)) if made.dim() else None
    if isinstance(made, (tuple, list)):
        parts = [_split(part) for part in made]
        return None if None in parts else [list(both) for both in zip(*parts, strict=True)]
    return None


def _shifted(sample: Sample) -> Sample:
    """The same call on the batch: dimensions that count from the front stand one further back."""
    names = [a.name for a in sample.row.schema.arguments]

    def moved(name: str, value: Any) -> Any:
        if name not in {"dim", "dims", "dim0", "dim1", "start_dim", "end_dim"}:
            return value
        if isinstance(value, (list, tuple)):
            return type(value)(moved(name, v) for v in value)
        return value + 1 if type(value) is int and value >= 0 else value

    args = tuple(moved(n, v) for n, v in zip(names, sample.args, strict=False))
    args += sample.args[len(names) :]
    kwargs = {n: moved(n, v) for n, v in sample.kwargs.items()}
    return Sample(sample.row, sample.number, sample.text, sample.dtype, args, kwargs)


def _judge(row: str, dtype: str) -> tuple[int, list[str]]:
    equal, wrong = 0, []
    for sample, given, single in _cases(row, dtype):
        try:
            made = _shifted(given).call()
        except REFUSALS:
            continue
        try:
            expected = [one.call() for one in single]
        except (*REFUSALS, ArithmeticError):
            equal += 1
            continue
        if _names(made) == _names(expected[0]) and _holds(made, [*map(_as_list, expected)]):
            equal += 1
        elif row not in UNSAID:
            wrong.append(str(sample))
    return equal, wrong


def _holds(made: Any, expected: list[Any]) -> bool:
    """Does each sequence have its result; or all of them one number, if the result is one?"""
    if not isinstance(made, (Tensor, tuple, list)) or (isinstance(made, Tensor) and not made.dim()):
        return _equal(made, expected[2])
    parts = _split(made)
    return parts is not None and len(parts) == 2 and _equal(parts, expected[:2])


def _names(made: Any) -> Any:
    """The names of results that have some."""
    return getattr(type(made), "__match_args__", ())


def _as_list(x: Any) -> Any:
    return list(x) if isinstance(x, (tuple, list)) else x


#: that one gives the tensors of the batch themselves
JUDGED = sorted(set(ROWS) - RANDOM - {"unbind.int"})


@pytest.mark.parametrize("row", JUDGED)
def test_rows_are_equal_or_refuse(row: str) -> None:
    wrong = [text for dtype in DTYPES for text in _judge(row, dtype)[1]]
    assert not wrong, wrong[:3]


def test_rows_with_a_rule_compute() -> None:
    """A law that every refusal keeps says little: what has a rule computes with some sample."""
    taeda.nested.nested_tensor
    rules = {row for row in core.layout_rules(taeda.jagged, False) if row in ROWS}
    idle = [
        row
        for row in sorted(rules - UNSAID - RANDOM - BY_HAND)
        if not any(_judge(row, dtype)[0] for dtype in DTYPES)
    ]
    assert not idle, " ".join(idle)
