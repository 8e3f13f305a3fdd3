"""First and second derivatives of activations; kinks and NaN."""

from __future__ import annotations

import math

import pytest
from derivative_inputs import between, both_orders

import taeda
from taeda._C import _nn

ACTIVATIONS = {
    "relu6": (), "hardtanh": (-1.3, 1.7), "leaky_relu": (0.1,), "elu": (1.3, 0.9, 1.1), "silu": (),
    "mish": (), "log_sigmoid": (), "softplus": (2.0, 3.0), "softshrink": (0.4,), "hardsigmoid": (),
    "hardswish": (), "softsign": (), "tanhshrink": (),
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    function = getattr(_nn, name)
    both_orders(lambda x: function(x, *ACTIVATIONS[name]), between(-2.9, 2.9))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: _nn.gelu(x),
        lambda x: _nn.gelu(x, approximate="tanh"),
        lambda x: taeda.celu(x, 1.5),
        lambda x: taeda.threshold(x, 0.3, 2.0),
        lambda x: taeda.hardshrink(x, 0.3),
        lambda x: taeda.logit(x.sigmoid(), eps=0.2),
    ],
)
def test_with_arguments(function):
    both_orders(function, between(-2.9, 2.9, seed=3))


def test_prelu():
    both_orders(taeda.prelu, between(-3, 3), between(0.1, 0.5, shape=(4,)))


INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("name", ["elu", "selu", "celu", "hardswish"])
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
@pytest.mark.parametrize("second", [False, True])
def test_the_gradient_at_nan_is_nan(name, dtype, second):
    x = taeda.full((9,), NAN, dtype=dtype, requires_grad=True)
    result = getattr(_nn, name, getattr(taeda, name, None))(x).sum()
    (grad,) = taeda.autograd.grad(result, x, create_graph=second)
    assert grad.isnan().all()


def test_derivatives_where_the_exponential_does_not_count_are_0():
    x = taeda.tensor([1e3, 1e19], requires_grad=True)
    y = _nn.elu(x, 1.3, 0.9, 1.1)
    for order in range(4):
        (y,) = taeda.autograd.grad(y.sum(), x, create_graph=True)
        assert order == 0 or y.tolist() == [0, 0]


def test_a_scale_beyond_16_bits_is_no_slope_where_the_exponential_is_0():
    x = taeda.tensor([-1.0, -3.0], dtype=taeda.float16, requires_grad=True)
    grad = taeda.ones(2, dtype=taeda.float16)
    slope = _nn.elu_backward(grad, 1.0, 1.0, 1e22, False, x)
    assert taeda.autograd.grad(slope.sum(), x)[0].tolist() == [0, 0]
