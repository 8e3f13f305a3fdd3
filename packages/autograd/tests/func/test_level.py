"""Levels of transforms: kept apart, left without a graph of their own, closed after an error."""

from __future__ import annotations

import pytest
from transform_inputs import X, close, cube, values

import taeda
import taeda.autograd.forward_ad as forward_ad
from taeda.func import grad, jacfwd, jacrev, jvp, linearize, vjp


def test_levels_are_not_confused():
    """d/dx (x · d/dy (x + y)) at y = 1: the inner transform must not differentiate the outer variable."""
    x = values(3)[0]
    one = values(1)[0]

    def inner_grad(x):
        return x * grad(lambda y: x + y)(one)

    def inner_jvp(x):
        return x * jvp(lambda y: x + y, (one,), (one,))[1]

    for function in (inner_grad, inner_jvp):
        assert grad(function)(x).item() == 1
        assert jvp(function, (x,), (one,))[1].item() == 1
        assert jacfwd(function)(x).item() == 1


def test_results_have_no_graph_of_the_transforms_own():
    for made in (
        grad(lambda x: (x * x).sum())(X), jacrev(cube)(X), jacfwd(cube)(X), vjp(cube, X)[0],
        vjp(cube, X)[1](X)[0],
        jvp(cube, (X,), (X,))[1], linearize(cube, X)[0], linearize(cube, X)[1](X),
    ):  # fmt: skip
        assert not made.requires_grad


def test_backward_goes_through():
    p = X.clone().requires_grad_()
    for made in (
        grad(lambda x: cube(x).sum())(p), jvp(cube, (p,), (values(1, 1, 1),))[1],
        vjp(cube, p)[1](values(1, 1, 1))[0],
        linearize(cube, p)[1](values(1, 1, 1)), jacrev(cube)(p).sum(0), jacfwd(cube)(p).sum(0),
    ):  # fmt: skip
        (slope,) = taeda.autograd.grad(made.sum(), p)
        close(slope, 6 * p.detach())


def test_captured_tensors_keep_their_graph():
    p = X.clone().requires_grad_()
    made = grad(lambda x: (x * x * p).sum())(X)
    (slope,) = taeda.autograd.grad(made.sum(), p)
    close(slope, 2 * X)
    assert p.grad is None


def test_no_grad_outside_does_not_reach_in_but_holds_for_results():
    p = X.clone().requires_grad_()
    with taeda.no_grad():
        made = grad(lambda x: (x * x).sum())(p)
    close(made, 2 * X)
    assert not made.requires_grad


def test_no_grad_inside_is_kept():
    def held(x):
        with taeda.no_grad():
            constant = x * x
        return (x * constant).sum()

    close(grad(held)(X), X * X)


def test_callers_tensors_are_left_alone():
    x = X.clone()
    grad(lambda x: (x * x).sum())(x)
    jacrev(cube)(x)
    assert not x.requires_grad and x.grad is None


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: grad(lambda x: x.sum())(X.long()), RuntimeError,
            "floating point and complex dtype .* got taeda.int64"),
        (lambda: grad(lambda x: x.sum())(3.0), ValueError, "must be Tensor, got <class 'float'>"),
        (lambda: grad(lambda x: x.mul_(2).sum())(X), RuntimeError, "leaf Variable that requires grad"),
        (lambda: grad(lambda x: x.mul_(2).sum())(X.clone().requires_grad_() * 1), RuntimeError,
            "wrote in place into one of its inputs"),
    ],
)  # fmt: skip
def test_refusals(run, error, text):
    with pytest.raises(error, match=text):
        run()


def test_a_failing_function_leaves_no_level_open():
    def fail(x):
        raise KeyError("inside")

    for transform in (grad, jacrev, jacfwd):
        with pytest.raises(KeyError, match="inside"):
            transform(fail)(X)
    assert taeda.is_grad_enabled()
    with forward_ad.dual_level():
        pass


@pytest.mark.parametrize("transform", [grad, lambda f: lambda x: vjp(f, x), jacrev])
def test_an_input_may_not_be_cut_off_by_its_flag(transform):
    """Its gradient would be 0, without a word."""

    def function(x):
        return x.requires_grad_(False).sum()

    with pytest.raises(RuntimeError, match=r"requires_grad_\(False\).*detach"):
        transform(function)(taeda.ones(2))
