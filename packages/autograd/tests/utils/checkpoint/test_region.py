"""What a recorded region keeps, computes again and checks."""

from __future__ import annotations

import weakref

import pytest
from checkpoint_programs import again, allocated, backward_of, layers, leaves, plainly

import taeda
from taeda.utils.checkpoint import CheckpointError


def test_values_are_let_go_after_backward_that_keeps_the_graph():
    x, w = taeda.zeros(10_000, requires_grad=True), taeda.ones(10_000)
    y = again(layers, x, w).sum()
    before = allocated()
    y.backward(retain_graph=True)
    first, x.grad = x.grad, None
    y.backward()
    assert taeda.equal(first, x.grad)
    del first
    x.grad = None
    assert allocated() - before < 1000


def test_a_region_dies_with_its_graph():
    def function(x):
        return x.exp()

    watch = weakref.ref(function)
    y = again(function, taeda.ones(1, requires_grad=True))
    del function
    assert watch() is not None
    del y
    assert watch() is None


def test_grad_and_second_derivatives():
    x = taeda.tensor([0.5], requires_grad=True, dtype=taeda.float64)
    y = again(lambda x: x.sin() * x, x)
    (g,) = taeda.autograd.grad(y, x, create_graph=True)
    (h,) = taeda.autograd.grad(g, x)
    (g2,) = taeda.autograd.grad(x.sin() * x, x, create_graph=True)
    assert g.item() == g2.item()
    assert h.item() == taeda.autograd.grad(g2, x)[0].item()


def test_parts_may_be_detached_or_constant():
    x = taeda.ones(2, requires_grad=True)
    a, b = again(lambda x: (x.exp(), x.detach() * 2), x)
    assert not b.requires_grad
    a.sum().backward()
    assert again(lambda x: x * 2, taeda.ones(1)).tolist() == [2]
    with taeda.no_grad():
        assert not again(taeda.exp, x).requires_grad


def test_checkpoints_nest():
    def inner(x, w):
        return (x * w).sin().exp()

    def outer(x, w):
        for _ in range(3):
            x = again(lambda x, w: again(inner, x, w) * x.cos(), x, w)
        return x

    def flat(x, w):
        for _ in range(3):
            x = inner(x, w) * x.cos()
        return x

    for got, wanted in zip(run_both(outer, flat), run_both(flat, flat), strict=True):
        assert taeda.equal(got, wanted)


def run_both(function, unused):
    x, w = leaves()
    again(function, x, w).sum().backward()
    return x.grad, w.grad


def test_what_is_nested_holds_no_more_than_the_outermost():
    x = taeda.zeros(10_000, requires_grad=True)

    def outer(x):
        for _ in range(5):
            x = again(lambda x: x.sin().exp(), x)
        return x

    before = allocated()
    y = again(outer, x)
    assert allocated() - before < 3 * 40_000
    y.sum().backward()


def test_inplace_operations_inside():
    def function(x):
        y = x * 2
        y.sin_()
        y.mul_(3)
        y.mul_(x)
        return y.exp()

    x = taeda.tensor([0.3, 0.7], requires_grad=True)
    again(function, x).sum().backward()
    got, x.grad = x.grad, None
    function(x).sum().backward()
    assert taeda.equal(got, x.grad)


@pytest.mark.parametrize("run", [plainly, again])
def test_writing_what_was_saved_is_an_error_inside_too(run):
    def function(x):
        y = x.exp()
        y.mul_(x)
        return y.sin()

    y = run(function, taeda.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_custom_function_may_ask_twice():
    class Cube(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            return grad * 3 * ctx.saved_tensors[0] * ctx.saved_tensors[0]

    runs = []
    x = taeda.full((1,), 2.0, requires_grad=True)
    again(lambda x: runs.append(1) or Cube.apply(x * 1), x).backward()
    assert x.grad.item() == 12 and len(runs) == 2


def test_a_functions_own_handlers_do_not_take_the_end_for_an_error():
    caught = []

    def function(x):
        try:
            return x.exp()
        except Exception as error:
            caught.append(error)
            raise

    again(function, taeda.ones(1, requires_grad=True)).backward()
    assert caught == []


def test_other_shapes_in_the_second_run():
    with pytest.raises(CheckpointError, match=r"position 0:\nsaved metadata: .*\[4\].*\n.*\[2\]"):
        backward_of(lambda x: x.exp(), lambda x: x[:2].exp())
    backward_of(lambda x: x.sin().exp(), lambda x: x.double().sin().exp(), determinism_check="none")


@pytest.mark.parametrize("early", [True, False])
def test_fewer_tensors_in_the_second_run(early):
    with pytest.raises(CheckpointError, match=r"forward: 2\n.*recomputation: 1"):
        backward_of(lambda x: x.exp().exp(), lambda x: x.exp(), early_stop=early)


def test_fewer_tensors_unchecked_still_say_what_is_missing():
    with pytest.raises(CheckpointError, match="no tensor number 1"):
        backward_of(lambda x: x.exp().exp(), lambda x: x.exp(), determinism_check="none")


def test_inputs_that_were_written_in_between():
    x = taeda.ones(2, requires_grad=True) * 1
    y = again(taeda.sin, x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_an_error_in_the_second_run_arrives():
    def fails(x):
        raise KeyError("again")

    with pytest.raises(KeyError, match="again"):
        backward_of(lambda x: x.exp(), fails)
    x = taeda.rand(3)
    with pytest.raises(KeyError):
        backward_of(lambda x: x.exp(), fails)
    assert x.requires_grad is False and taeda.is_grad_enabled()
