"""One call as forward mode sees it: its arguments, its tangents, and what its rule says."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd._calls import Call, changes, facts, spread
from taeda.autograd.rules import _registry

taeda.ones(1, requires_grad=True)  # the first that needs a rule loads them all


def test_every_rule_gives_a_way_for_tangents():
    ways = {facts(name).way for name in _registry.rules}
    assert ways == {"linear", "multilinear", "formula", "pointwise", "transposed"}


def of(op, *args, results, **tangents):
    """The call of an op whose arguments have these tangents."""
    known = facts(op)
    found = {id(args[known.names.index(name)]): t for name, t in tangents.items()}
    return Call(known, args, results, lambda x: found.get(id(x)))


def test_facts_of_an_op():
    known = facts("mul.Tensor")
    assert known.names == ("self", "other") and known.way == "pointwise"
    assert facts("mm").way == "multilinear" and facts("cat").way == "linear"
    assert facts("transpose.int").is_view and facts("transpose.int").way == "linear"
    assert facts("copy_").pure == "copy" and facts("copy_").op == "copy_"
    assert facts("mm") is facts("mm")


def test_formulas_get_what_they_name():
    x, y, t = taeda.tensor([2.0, 3.0]), taeda.tensor([5.0, 7.0]), taeda.tensor([1.0, 10.0])
    call = of("mul.Tensor", x, y, results=(x * y,), self=t)
    assert list(call.duals()) == [0] and call.needs() == (True, False)
    assert call.value("self") is x and call.value("self_t") is t and call.value("other_t") is None
    assert call.value("result").tolist() == [10, 21] and call.value("other_shape") == (2,)
    assert call.value("other_dtype") is taeda.float32
    assert call.pull((t,), "self").tolist() == [5, 70]
    assert call.holds(t) and not call.holds(x)


def test_the_op_again_with_other_arguments():
    x = taeda.tensor([[1.0, 2.0]])
    call = of("mm", x, x.t(), results=(x @ x.t(),), self=x * 2)
    assert call.changed({0: x * 10}).tolist() == [[50]]


def test_leaves_are_replaced_together():
    x, y, t = (taeda.tensor([v], requires_grad=True) for v in (2.0, 3.0, 4.0))
    call = of("mul.Tensor", x, y, results=(x * y,), self=t)
    leaves = call.leaves()
    assert y in leaves and t in leaves and x not in leaves  # the formula for self reads other alone
    other = call.with_leaves([v.detach() for v in leaves])
    assert other.facts is call.facts
    assert not any(v.requires_grad for v in other.leaves())
    assert not other.args[0].requires_grad


def test_lists_of_tensors_have_lists_of_tangents():
    x, y = taeda.ones(2), taeda.zeros(2)
    call = Call(
        facts("cat"), ([x, y], 0), (taeda.cat([x, y]),), lambda v: v * 3 if v is x else None
    )
    assert call.needs() == (True,)
    assert call.tangents[0][0].tolist() == [3, 3] and call.tangents[0][1] is None
    assert call.value("tensors_shape") == ((2,), (2,))


@pytest.mark.parametrize(
    ("value", "counts"),
    [(taeda.ones(1), True), (taeda.ones(1, dtype=taeda.complex64), True),
        (taeda.ones(1).long(), False), (3.0, False), (None, False)],
)  # fmt: skip
def test_what_changes(value, counts):
    assert bool(changes(value)) is counts


def test_a_tangent_is_spread_to_the_result():
    like = taeda.ones(2, 3, dtype=taeda.float64)
    made = spread(taeda.tensor([1.0, 2.0, 3.0]), like)
    assert made.shape == (2, 3) and made.dtype is taeda.float64
