"""Calls in place of nested tensors: what they make stands in the values, where others see it."""

from __future__ import annotations

import pytest
from ragged import LENGTHS, equal_pieces, nested_of, pieces_of

import taeda
from taeda import nested
from taeda.nested.rules import in_place
from taeda.nested.rules.elementwise import ROWS

WRITTEN = sorted(row for row in ROWS if hasattr(taeda.Tensor, f"{row.partition('.')[0]}_"))


def _holes() -> tuple[taeda.Tensor, taeda.Tensor]:
    """A nested tensor of parts of padded rows, and the rows."""
    rows = taeda.arange(24.0).reshape(3, 8) - 11.5
    return nested.narrow(rows, 1, 1, taeda.tensor([2, 0, 5]), layout=taeda.jagged), rows


@pytest.mark.parametrize("make", [lambda: nested_of(pieces_of(2)), lambda: _holes()[0]])
@pytest.mark.parametrize(
    "row", sorted(row for row in ROWS if f"{row.partition('.')[0]}_" in dir(taeda.Tensor))
)
def test_writes_what_the_other_form_makes(row, make):
    name, x = row.partition(".")[0], make()
    seen = x.unbind()
    for more in ((), (2.0,), (x.clone(),), (x > 0, 2.0), (x.clone(), x.clone() + 3), (0.0, 1.0)):
        try:
            made = getattr(x, name)(*more) if hasattr(x, name) else None
        except (TypeError, RuntimeError, ValueError):
            continue
        break
    else:
        return  # for integers alone: the law has those
    version = x._version
    if made is None or not taeda.can_cast(made.dtype, x.dtype):
        with pytest.raises((RuntimeError, TypeError)):
            getattr(x, f"{name}_")(*more)
        return
    assert getattr(x, f"{name}_")(*more) is x
    assert x._version > version
    for a, b in zip(seen, made.to(x.dtype).unbind(), strict=True):
        assert taeda.allclose(a, b, equal_nan=True)


def test_nothing_is_written_into_holes():
    x, rows = _holes()
    before = rows.clone()
    x.fill_(7)
    mask = rows == 7
    assert mask.sum(1).tolist() == [2, 0, 5]
    assert taeda.equal(rows[~mask], before[~mask])
    x.zero_()
    x.copy_(x + 1)
    assert (rows == 1).sum().item() == 7


@pytest.mark.parametrize("row", in_place.FILLING)
def test_filling(row):
    x = nested_of(pieces_of(2))
    more = {"fill_.Scalar": (2,), "fill_.Tensor": (taeda.tensor(2.0),), "geometric_": (0.5,),
        "random_.to": (9,), "random_.from": (3, 9), "bernoulli_.float": (0.5,)}.get(row, ())  # fmt: skip
    values, version = x.values(), x._version
    before = values.clone()
    assert getattr(x, row.partition(".")[0])(*more) is x
    assert x._version > version
    assert not taeda.equal(values, before)


def test_copy():
    x, pieces = nested_of(pieces_of(2)), [piece + 1 for piece in pieces_of(2)]
    equal_pieces(x.copy_(nested_of(pieces)), pieces)
    equal_pieces(x.copy_(taeda.ones(1, 1, 2)), [taeda.ones(n, 2, dtype=x.dtype) for n in LENGTHS])
    for other in (
        nested_of(pieces[:2]),
        nested_of([piece[:, :1].repeat(1, 3) for piece in pieces]),
    ):
        with pytest.raises(RuntimeError):
            x.copy_(other)


def test_refused_while_gradients_are_recorded():
    x = nested_of(pieces_of(2, requires_grad=True))
    for call in (
        lambda: x.add_(1),
        lambda: x.zero_(),
        lambda: x.detach().mul_(x),
        lambda: x.copy_(x),
    ):
        with pytest.raises(RuntimeError, match="while gradients are recorded"):
            call()
    with taeda.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="cannot take"):
        taeda.nested.nested_tensor([taeda.ones(2).long()], layout=taeda.jagged).add_(0.5)
    with pytest.raises(NotImplementedError, match="add_"):
        taeda.ones(2, 1, 2).add_(x.detach())


def test_gradients_accumulate():
    x = nested_of([piece.detach() for piece in pieces_of(2)]).requires_grad_()
    for _ in range(3):
        (x * 2).sum().backward()
    assert x.grad.values().unique().tolist() == [6.0]
    optimizer = taeda.optim.SGD([x], 0.5, momentum=0.9)
    before = x.values().detach().clone()
    optimizer.step()
    assert taeda.allclose(x.values(), before - 3)
    optimizer.zero_grad(set_to_none=False)
    assert not x.grad.values().any()
