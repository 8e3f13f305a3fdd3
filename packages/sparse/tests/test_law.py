"""The law of sparse tensors: dense(op(sparse(x))) equals op(x), or the call is refused; over the op
table's samples, with each tensor of a call sparse in turn, and all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from samples import ROWS, Sample, samples

import taeda
from taeda import Tensor
from taeda._native import core

DTYPES = ("float32", "int64", "bool")
LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
BLOCKED = ("sparse_bsr", "sparse_bsc")
#: rows whose results say nothing of the elements
UNSAID = {"empty_like", "new_empty"}
#: no sample has what the rule takes with each layout (a number, a complex one, a matrix, batches of one
#: size); other tests have
BY_HAND = {
    "adjoint", "imag",
    "bmm", "div.Tensor", "div.Tensor_mode", "empty.memory_format", "floor_divide", "index.Tensor",
    "matmul.linalg", "mean.dim", "new_zeros", "permute", "permute_copy", "sum.dim_IntList",
    "transpose.int", "vstack", "zeros",
}  # fmt: skip
RANDOM = {name for name, row in ROWS.items() if row.random}


def _thinned(x: Tensor) -> Tensor:
    """The same with every other element 0."""
    return x.masked_fill((taeda.arange(x.numel()) % 2 == 1).reshape(x.shape), 0)


def _uncoalesced(x: Tensor) -> Tensor:
    """COO with each place twice, half of the value at each, or once where it cannot be halved."""
    made = x.to_sparse()
    if not x.is_floating_point():
        return made
    indices = taeda.cat([made.indices(), made.indices()], 1)
    return taeda.sparse_coo_tensor(indices, taeda.cat([made.values() / 2] * 2), x.shape)


def _as_layout(layout: str) -> Callable[[Tensor], Tensor]:
    def change(x: Tensor) -> Tensor:
        if layout == "sparse_coo":
            return _uncoalesced(x)
        if x.dim() != 2:
            return x
        block = tuple(2 if n and n % 2 == 0 else 1 for n in x.shape)
        return x.to_sparse(
            layout=getattr(taeda, layout), blocksize=block if layout in BLOCKED else None
        )

    return change


def _dense(made: Any) -> Any:
    if isinstance(made, Tensor):
        return made.to_dense()
    if isinstance(made, (tuple, list)):
        parts = [_dense(part) for part in made]
        return parts if type(made) in (tuple, list) else type(made)(parts)  # with names
    return made


def _equal(a: Any, b: Any) -> bool:
    if isinstance(b, Tensor):
        same = isinstance(a, Tensor) and a.shape == b.shape and a.dtype is b.dtype
        return same and taeda.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
    if isinstance(b, (tuple, list)):
        named = getattr(type(b), "__match_args__", ()) == getattr(type(a), "__match_args__", ())
        return named and len(a) == len(b) and all(map(_equal, a, b))
    return bool(a == b or (a != a and b != b))


class _Pick:
    """Changes the tensor of one number, or all (-1); counts how many there are."""

    def __init__(self, number: int, change: Callable[[Tensor], Tensor]) -> None:
        self.number, self.change, self.count, self.changed = number, change, 0, 0

    def __call__(self, x: Tensor) -> Tensor:
        self.count += 1
        if self.number not in (-1, self.count - 1) or x.dtype is taeda.uint8:
            return x.clone()  # the dense call comes later, and this one may write
        made = self.change(x)
        self.changed += made is not x
        return made


def _calls(sample: Sample) -> int:
    counted = _Pick(-2, lambda x: x)
    sample.map(counted)
    return counted.count


def _cases(row: str, dtype: str, layout: str) -> Iterator[tuple[Any, Any, Any]]:
    change = _as_layout(layout)
    for sample in samples(row, dtype):
        thin = sample.map(_thinned)
        for number in (-1, *range(_calls(thin))):
            pick = _Pick(number, change)
            try:
                given = thin.map(pick)
            except NotImplementedError:
                continue
            if pick.changed:
                yield sample, thin, given


def _plain(thin: Sample) -> Any:
    """What the dense call gives, on tensors of its own; an exception where it refuses such numbers."""
    try:
        return thin.map(lambda x: x.clone()).call()
    except (RuntimeError, ValueError, IndexError, ArithmeticError, TypeError) as error:
        return error


def _judge(row: str, dtype: str, layout: str) -> tuple[int, list[str]]:
    equal, wrong = 0, []
    for sample, thin, given in _cases(row, dtype, layout):
        try:
            made = given.call()
        except (RuntimeError, TypeError, IndexError, BufferError, AttributeError):
            continue
        expected = _plain(thin)
        if isinstance(expected, BaseException) or _equal(_dense(made), _dense(expected)):
            equal += 1
        elif row not in UNSAID:
            wrong.append(str(sample))
    return equal, wrong


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("row", sorted(set(ROWS) - RANDOM))
def test_rows_are_equal_or_refuse(row: str, layout: str) -> None:
    wrong = [text for dtype in DTYPES for text in _judge(row, dtype, layout)[1]]
    assert not wrong, wrong[:3]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_with_a_rule_compute(layout: str) -> None:
    """A law that every refusal keeps says little: what has a rule computes with some sample."""
    assert taeda.eye(2).to_sparse().is_sparse  # the rules are loaded with the first of them
    rules = {row for row in core.layout_rules(getattr(taeda, layout), False) if row in ROWS}
    idle = [
        row
        for row in sorted(rules - UNSAID - BY_HAND)
        if not any(_judge(row, dtype, layout)[0] for dtype in DTYPES)
    ]
    assert not idle, " ".join(idle)
