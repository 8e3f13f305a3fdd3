"""Saved tensors: `node._raw_saved_self`, and what the hooks of a context are given."""

from __future__ import annotations

import gc
import weakref

import pytest

import taeda


def leaf(n=3):
    return taeda.arange(1.0, n + 1).requires_grad_()


def same(t):
    return t


def test_hooks_on_a_result_and_on_an_argument():
    x = leaf()
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.numpy().copy(), taeda.from_numpy)
    y.sum().backward()
    assert x.grad.equal(x.detach().exp())
    x.grad = None
    z = x.pow(2)
    kept = z.grad_fn._raw_saved_self
    kept.register_hooks(lambda t: t * 2, lambda t: t / 2)
    assert kept.data.equal(x.detach()) and z.grad_fn._saved_self.equal(x)
    z.sum().backward()
    assert x.grad.equal(2 * x.detach())


def test_what_unpack_gives_is_what_backward_uses():
    x = leaf()
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(same, lambda t: t * 0 + 7)
    y.sum().backward()
    assert x.grad.tolist() == [7, 7, 7]


def test_the_graph_of_a_gradient_goes_through_the_hooks():
    x = taeda.ones(2, dtype=taeda.float64).requires_grad_()
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: (t,), lambda t: t[0])
    (g,) = taeda.autograd.grad(y.sum(), x, create_graph=True)
    (gg,) = taeda.autograd.grad(g.sum(), x)
    assert gg.equal(-x.detach().sin())


def test_packed_memory_is_let_go():
    x = taeda.ones(4).requires_grad_()
    middle = x * 2
    alive = weakref.ref(middle)
    y = middle.exp().sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t.tolist(), taeda.tensor)
    del middle
    gc.collect()
    assert alive() is None
    y.sum().backward()
    assert x.grad.allclose(2 * taeda.exp(taeda.tensor(2.0)) * taeda.exp(taeda.tensor(2.0)).cos())


def test_a_custom_function_shows_all_that_it_keeps():
    class Times(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, None, y)
            return x * y

        @staticmethod
        def backward(ctx, grad):
            x, _, y = ctx.saved_tensors
            return grad * y, grad * x

    x = leaf()
    z = Times.apply(x, x.detach() * 3)
    _, none, last = z.grad_fn._raw_saved_tensors
    assert none.data is None and last.data.equal(x.detach() * 3)
    with pytest.raises(RuntimeError, match="value None is forbidden"):
        none.register_hooks(same, same)
    last.register_hooks(lambda t: t + 1, same)
    z.sum().backward()
    assert x.grad.equal(x.detach() * 3 + 1)
    assert "_raw_saved_tensors" in dir(z.grad_fn)


class Squared(taeda.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] * grad


@pytest.mark.parametrize("hook", ["pack", "unpack"])
def test_a_hook_of_a_custom_function_that_frees_its_graph(hook):
    x = leaf()
    y = Squared.apply(x)
    (kept,) = y.grad_fn._raw_saved_tensors

    def frees(t):
        y.grad_fn._context._release()
        return t

    if hook == "pack":
        with pytest.raises(RuntimeError, match="a second time"):
            kept.register_hooks(frees, same)
    else:
        kept.register_hooks(same, frees)
        assert kept.data.equal(x.detach())  # of what the hook was given
    with pytest.raises(RuntimeError, match="a second time"):
        _ = kept.data


def test_one_pair_of_hooks():
    y = leaf().exp()
    kept = y.grad_fn._raw_saved_result
    kept.register_hooks(same, same)
    with pytest.raises(RuntimeError, match="already been set"):
        y.grad_fn._raw_saved_result.register_hooks(same, same)
    with taeda.autograd.graph.saved_tensors_hooks(same, same):
        z = leaf().exp()
    with pytest.raises(RuntimeError, match="already been set"):
        z.grad_fn._raw_saved_result.register_hooks(same, same)


def test_what_is_refused_changes_nothing():
    x = leaf()
    y = x.exp()
    kept = y.grad_fn._raw_saved_result
    with pytest.raises(RuntimeError, match="modifying its input in place"):
        kept.register_hooks(lambda t: t.zero_(), same)
    y = x.exp()
    kept = y.grad_fn._raw_saved_result
    with pytest.raises(ZeroDivisionError):
        kept.register_hooks(lambda t: 1 // 0, same)
    with pytest.raises(TypeError, match="two functions"):
        kept.register_hooks(same, 2)
    with pytest.raises(TypeError):
        kept.register_hooks(same)
    assert kept.data.equal(x.detach().exp())
    y.sum().backward()
    assert x.grad.equal(x.detach().exp())


def test_after_a_write_and_after_backward():
    x = leaf()
    y = x.sin()
    kept = y.grad_fn._raw_saved_self
    with taeda.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        kept.register_hooks(same, same)
    z = x.exp()
    kept = z.grad_fn._raw_saved_result
    z.sum().backward()
    for call in (lambda: kept.register_hooks(same, same), lambda: kept.data):
        with pytest.raises(RuntimeError, match="a second time"):
            call()


def test_a_hook_that_frees_the_graph_or_sets_hooks_itself():
    x = leaf()
    y = x.exp()
    kept = y.grad_fn._raw_saved_result
    with pytest.raises(RuntimeError, match="a second time"):
        kept.register_hooks(lambda t: y.backward(taeda.ones_like(y)) or t, same)
    assert x.grad.equal(x.detach().exp())
    y = x.exp()
    kept = y.grad_fn._raw_saved_result
    with pytest.raises(RuntimeError, match="already been set"):
        kept.register_hooks(lambda t: kept.register_hooks(same, same) or t * 9, same)
    assert kept.data.equal(x.detach().exp())


def test_an_unpack_hook_that_gives_no_tensor():
    x = leaf()
    y = x.exp()
    kept = y.grad_fn._raw_saved_result
    kept.register_hooks(same, lambda t: "text")
    with pytest.raises(TypeError, match="expected to be a Tensor"):
        y.sum().backward()
    with pytest.raises(TypeError, match="expected to be a Tensor"):
        _ = kept.data


def test_names_in_dir():
    y = leaf().pow(2)
    assert {"_saved_self", "_raw_saved_self", "next_functions", "name"} <= {*dir(y.grad_fn)}
    with pytest.raises(AttributeError, match="keeps nothing of the name"):
        _ = y.grad_fn._raw_saved_other
    with pytest.raises(TypeError, match="cannot create"):
        type(y.grad_fn._raw_saved_self)()


def test_no_cycle_stays():
    x = leaf()
    y = x.exp()
    y.grad_fn.metadata["kept"] = y.grad_fn._raw_saved_result
    dead = weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert dead() is None


class Tagged(taeda.Tensor):
    """A subclass as programs write them."""


def given_to_pack(function):
    """The result, and what a pack hook is given, with the grad mode that it sees."""
    seen = []

    def pack(t):
        seen.append((t, t.requires_grad, t.grad_fn is not None, taeda.is_grad_enabled()))
        return t

    with taeda.autograd.graph.saved_tensors_hooks(pack, same):
        made = function()
    return made, seen


@pytest.mark.parametrize("make", [leaf, lambda: leaf().as_subclass(Tagged)])
def test_hooks_of_a_context_are_given_the_very_tensors(make):
    x = make()
    y = x * 2
    made, seen = given_to_pack(lambda: y.exp())
    ((t, *rest),) = seen
    assert rest == [True, True, False]
    assert t is made or type(made) is Tagged  # which the call makes of it afterwards
    made, seen = given_to_pack(lambda: y * x)
    assert {id(t) for t, *_ in seen} == {id(x), id(y)}
    assert all(wants and not records for _, wants, _, records in seen)
    expected = taeda.autograd.grad((x * 2 * x).sum(), x)[0]
    assert taeda.autograd.grad(made.sum(), x)[0].equal(expected)


def test_a_hook_can_leave_parameters_alone():
    nn = pytest.importorskip("taeda.nn")
    layer = nn.Linear(3, 2)
    _, seen = given_to_pack(lambda: layer(taeda.ones(1, 3, requires_grad=True)))
    assert any(t is layer.weight for t, *_ in seen)


def test_hooks_of_functions_are_given_what_was_saved():
    class Doubled(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            made = t * 2
            ctx.save_for_backward(t, made)
            return made

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf()
    made, seen = given_to_pack(lambda: Doubled.apply(x))
    assert [t is one for (t, *_), one in zip(seen, (x, made), strict=True)] == [True, True]


def test_a_hook_that_gives_its_argument_back_leaves_no_circle():
    gc.disable()
    try:
        made, seen = given_to_pack(lambda: leaf().exp())
        gone = weakref.ref(made)
        seen.clear()
        del made
        assert gone() is None
    finally:
        gc.enable()
