"""Derivatives of the normalisations beyond the second; the first two are among the composites."""

import math

import pytest
from derivative_inputs import both_orders, uniform

import taeda
from taeda.autograd import gradcheck, gradgradcheck

THIRD = {
    "layer_norm": lambda x: taeda.layer_norm(x, (4,)),
    "rms_norm": lambda x: taeda.rms_norm(x, (4,)),
    "batch_norm": lambda x: taeda.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False),
    "group_norm": lambda x: taeda.group_norm(x, 2),
}


@pytest.mark.parametrize("name", THIRD)
def test_third_derivatives_pass_through_the_saved_statistics(name):
    values = taeda.randn(3, 4, dtype=taeda.float64, generator=taeda.Generator().manual_seed(5))
    weights = taeda.linspace(-1, 2, 12, dtype=taeda.float64).reshape(3, 4)

    def gradient(x):
        (g,) = taeda.autograd.grad((THIRD[name](x) ** 2 * weights).sum(), x, create_graph=True)
        return g

    assert taeda.autograd.gradgradcheck(gradient, (values.requires_grad_(),))


REDUCTIONS = {
    "layer_norm": lambda x: taeda.layer_norm(x, [4]),
    "rms_norm": lambda x: taeda.rms_norm(x, [4], None, 1e-3),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_of_one_matrix(name):
    both_orders(REDUCTIONS[name], uniform(3, 4))


PARAMETERS = {
    "layer_norm": (lambda x, w, b: taeda.layer_norm(x, [2, 4], w, b), [(3, 2, 4), (2, 4), (2, 4)]),
    "rms_norm": (lambda x, w: taeda.rms_norm(x, [4], w, 1e-3), [(3, 4), (4,)]),
    "group_norm": (lambda x, w, b: taeda.group_norm(x, 2, w, b), [(2, 4, 3), (4,), (4,)]),
    "batch_norm": (
        lambda x, w, b: taeda.batch_norm(x, w, b, None, None, True, 0.1, 1e-3, False),
        [(3, 2, 4), (2,), (2,)],
    ),
    "batch_norm of columns": (
        lambda x, w, b: taeda.batch_norm(x, w, b, None, None, True, 0.1, 1e-3, False),
        [(5, 2), (2,), (2,)],
    ),
    "batch_norm in evaluation": (
        lambda x, w, b: taeda.batch_norm(
            x,
            w,
            b,
            taeda.full((2,), 0.1).double(),
            taeda.full((2,), 2.0).double(),
            False,
            0.1,
            1e-3,
            False,
        ),
        [(3, 2, 4), (2,), (2,)],
    ),
    "instance_norm": (
        lambda x, w, b: taeda.instance_norm(x, w, b, None, None, True, 0.1, 1e-3, False),
        [(2, 2, 5), (2,), (2,)],
    ),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_normalisations_with_parameters(name):
    function, shapes = PARAMETERS[name]
    inputs = tuple(uniform(*shape, seed=k) for k, shape in enumerate(shapes))
    assert gradcheck(function, inputs, check_forward_ad=True)
    assert gradgradcheck(function, inputs, check_fwd_over_rev=True)


def test_two_forwards_of_one_batch_norm_before_backward():
    mean, var = taeda.zeros(2), taeda.ones(2)
    x = taeda.randn(4, 2, requires_grad=True)
    first = taeda.batch_norm(x, None, None, mean, var, True, 0.1, 1e-5, False)
    second = taeda.batch_norm(x * 2, None, None, mean, var, True, 0.1, 1e-5, False)
    (first * second).sum().backward()
    assert x.grad.shape == (4, 2)


@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 4), (1, 4, 2, 2)], ids=str)
def test_group_norm_with_its_statistics(shape):
    x = uniform(*shape)
    n, c, rest = shape[0], 4, math.prod(shape[2:])
    w, b = uniform(4, seed=1), uniform(4, seed=2)

    def results(*given):
        return taeda.native_group_norm(*given, n, c, rest, 2, 1e-3)

    assert gradcheck(results, (x, w, b), check_forward_ad=True)
    assert gradgradcheck(results, (x, w, b), check_fwd_over_rev=True)
    assert gradcheck(lambda x: results(x, w, b)[1:], (x,), check_forward_ad=True)
