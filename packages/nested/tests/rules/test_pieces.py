"""The law of the strided layout: the tensors of op(nested) equal op of each, or the call is refused; over
the op table's samples, with every tensor of a call nested.
"""

from __future__ import annotations

from itertools import islice

import pytest
from samples import ROWS, Sample, samples

import taeda
from taeda import Tensor
from taeda._native import core
from taeda.nested._pieces import joined
from taeda.nested.rules import load

load()  # else the file alone knows no rule
RULES = sorted(row for row in core.layout_rules(core._nested, False) if row in ROWS)
#: what draws, says nothing of its elements, or goes along the batch
UNSAID = {
    "empty_like",
    "rand_like",
    "randn_like",
    "dropout",
    "native_dropout",
    "unbind.int",
    "select.int",
    "sum",
}
REFUSALS = (RuntimeError, TypeError, IndexError, ValueError, ArithmeticError)
DIMS = ("dim", "dims", "dim0", "dim1", "start_dim", "end_dim")
FEW = 8


def other(x):
    """A tensor of the same shape, with other elements."""
    return x.flip(0) if x.dim() else x.clone()


def shifted(sample):
    """The call on the batch: dimensions that count from the front stand one further back."""
    names = [a.name for a in sample.row.schema.arguments]

    def moved(name, value):
        if name not in DIMS:
            return value
        if isinstance(value, (list, tuple)):
            return type(value)(moved(name, v) for v in value)
        return value + 1 if type(value) is int and value >= 0 else value

    args = tuple(moved(n, v) for n, v in zip(names, sample.args, strict=False))
    kwargs = {n: moved(n, v) for n, v in sample.kwargs.items()}
    return Sample(sample.row, sample.number, sample.text, sample.dtype, args, kwargs)


def split(made):
    """The results of each of the two tensors."""
    if isinstance(made, Tensor):
        return list(made.unbind(0))
    return [list(both) for both in zip(*map(split, made), strict=True)]


def same(a, b):
    if isinstance(b, Tensor):
        close = taeda.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
        return a.shape == b.shape and a.dtype is b.dtype and close
    return len(a) == len(b) and all(map(same, a, b))


def judged(row, dtype):
    """(calls that computed, those that computed something else)."""
    ran, wrong = 0, []
    for sample in islice(samples(row, dtype), FEW):
        if not any(x.dim() for x in sample.tensors()):
            continue
        try:
            wanted = [sample.map(change).call() for change in (Tensor.clone, other)]
            given = sample.map(lambda x: joined([x.clone(), other(x)]) if x.dim() else x)
            made = shifted(given).call()
        except REFUSALS:
            continue
        ran += 1
        if not all(map(same, split(made), wanted)):
            wrong.append(str(sample))
    return ran, wrong


@pytest.mark.parametrize("row", [row for row in RULES if row not in UNSAID])
def test_rows_are_equal_or_refuse(row):
    found = [judged(row, dtype) for dtype in ("float32", "int64", "bool")]
    assert not [text for _, wrong in found for text in wrong]
    assert sum(ran for ran, _ in found), "no sample computed: the law says nothing of this row"


def _batch(shapes=((2, 3), (3, 2)), value=1.0):
    parts = [taeda.full(shape, value) for shape in shapes]
    return taeda.nested.nested_tensor(parts, layout=taeda.strided)


@pytest.mark.parametrize(
    ("write", "total"),
    [
        (lambda x: x.zero_(), 0.0),
        (lambda x: x.fill_(3), 18.0),
        (lambda x: x.fill_(taeda.tensor(4.0)), 24.0),
        (lambda x: x.copy_(_batch(value=5.0)), 30.0),
        (lambda x: x.detach().zero_(), 0.0),
        (lambda x: x.data.fill_(2), 12.0),
    ],
)
def test_fillings_are_seen_by_the_tensors_of_the_batch(write, total):
    x = _batch()
    pieces = x.unbind()
    write(x)
    assert [piece.sum().item() for piece in pieces] == [total, total]


def test_fillings_refuse_other_sizes_and_graphs():
    with pytest.raises(RuntimeError, match=r"for a batch of \[\(2, 3\), \(3, 2\)\]"):
        _batch().copy_(_batch(((2, 3), (3, 3))))
    with pytest.raises(RuntimeError, match="for a batch of"):
        _batch().copy_(_batch(((2, 3),)))
    with pytest.raises(NotImplementedError, match="Write into the tensors of unbind"):
        _batch().copy_(taeda.ones(3))
    with pytest.raises(RuntimeError, match="while gradients are recorded: use zeros_like"):
        _batch().requires_grad_().zero_()
