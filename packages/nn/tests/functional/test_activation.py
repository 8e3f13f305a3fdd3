"""Activations by definition, their gradients and edges."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda.autograd import gradcheck
from taeda.nn import functional as F

A = taeda.randn(4, 3)


def test_gumbel_softmax():
    taeda.manual_seed(0)
    logits = taeda.tensor([1.0, 2.0, 0.5]).log().expand(3000, 3)
    drawn = F.gumbel_softmax(logits, hard=True)
    assert taeda.equal(drawn.sum(1), taeda.ones(3000))
    assert (drawn.mean(0) - taeda.tensor([1 / 3.5, 2 / 3.5, 0.5 / 3.5])).abs().max().item() < 0.03


def test_softmax_without_a_dimension_warns():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert taeda.equal(F.softmax(A), A.softmax(1))
    with pytest.warns(UserWarning, match="log_softmax"):
        F.log_softmax(taeda.ones(2, 2, 2))


def test_glu_wants_halves():
    with pytest.raises(RuntimeError, match="dimension 1 is size 3"):
        F.glu(A)
    with pytest.raises(RuntimeError, match="scalars"):
        F.glu(taeda.tensor(1.0))


# ---- by definition ----


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


SELU = 1.0507009873554805, 1.6732632423543772
DEFINED = {
    "threshold": (lambda x, **o: F.threshold(x, 0.1, 20.0, **o), lambda x: np.where(x > 0.1, x, 20)),
    "relu": (F.relu, lambda x: np.maximum(x, 0)),
    "hardtanh": (lambda x, **o: F.hardtanh(x, -0.5, 2, **o), lambda x: np.clip(x, -0.5, 2)),
    "relu6": (F.relu6, lambda x: np.clip(x, 0, 6)),
    "leaky_relu": (lambda x, **o: F.leaky_relu(x, 0.2, **o), lambda x: np.where(x > 0, x, 0.2 * x)),
    "rrelu": (F.rrelu, lambda x: np.where(x > 0, x, (1 / 8 + 1 / 3) / 2 * x)),
    "hardsigmoid": (F.hardsigmoid, lambda x: np.clip(x + 3, 0, 6) / 6),
    "hardswish": (F.hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "elu": (lambda x, **o: F.elu(x, 0.7, **o), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    "selu": (F.selu, lambda x: SELU[0] * np.where(x > 0, x, SELU[1] * np.expm1(x))),
    "celu": (lambda x, **o: F.celu(x, 0.7, **o), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x / 0.7))),
    "silu": (F.silu, lambda x: x * sigmoid(x)),
    "mish": (F.mish, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "sigmoid": (F.sigmoid, sigmoid),
    "tanh": (F.tanh, np.tanh),
    "tanhshrink": (F.tanhshrink, lambda x: x - np.tanh(x)),
    "softsign": (F.softsign, lambda x: x / (1 + abs(x))),
    "glu": (lambda x: F.glu(x, 0), lambda x: x[: len(x) // 2] * sigmoid(x[len(x) // 2 :])),
    "softmax": (lambda x: F.softmax(x, 0), lambda x: np.exp(x) / np.exp(x).sum(0)),
    "softmin": (lambda x: F.softmin(x, 0), lambda x: np.exp(-x) / np.exp(-x).sum(0)),
    "log_softmax": (lambda x: F.log_softmax(x, 0), lambda x: x - np.log(np.exp(x).sum(0))),
}  # fmt: skip
IN_PLACE = ["threshold", "relu", "hardtanh", "relu6", "leaky_relu", "rrelu", "hardsigmoid", "hardswish",
            "elu", "selu", "celu", "silu", "mish"]  # fmt: skip


def drawn(*shape):
    """Numbers on both sides of every kink, none of them near one."""
    taeda.manual_seed(4)
    return taeda.randn(shape, dtype=taeda.float64) * 3


@pytest.mark.parametrize("name", DEFINED)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "every second", "empty"])
def test_values(name, layout):
    x = {"contiguous": drawn(6, 3), "transposed": drawn(3, 6).t(),
         "every second": drawn(6, 6)[:, ::2], "empty": drawn(6, 0)}[layout]  # fmt: skip
    made, wanted = DEFINED[name][0](x), DEFINED[name][1](x.numpy())
    assert made.shape == wanted.shape
    np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [n for n in DEFINED if n != "glu"])
def test_a_number_without_dimensions(name):
    made = DEFINED[name][0](taeda.tensor(-1.5, dtype=taeda.float64))
    assert made.shape == ()
    wanted = DEFINED[name][1](np.array([-1.5]))
    assert made.item() == pytest.approx(float(wanted[0]), rel=1e-12)


@pytest.mark.parametrize("name", DEFINED)
def test_gradients(name):
    assert gradcheck(DEFINED[name][0], (drawn(4, 2).requires_grad_(),))


@pytest.mark.parametrize("name", DEFINED)
def test_half_is_computed_in_single(name):
    x = drawn(6, 3).half()
    made = DEFINED[name][0](x)
    assert made.dtype is taeda.float16
    np.testing.assert_allclose(
        made.double().numpy(), DEFINED[name][1](x.double().numpy()), rtol=2e-3, atol=2e-3
    )


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name):
    x = drawn(6, 3)
    wanted = DEFINED[name][0](x)
    assert DEFINED[name][0](x, inplace=True) is x
    assert taeda.equal(x, wanted)


def test_random_slopes_lie_between_the_bounds():
    taeda.manual_seed(0)
    x = -taeda.rand(1000, dtype=taeda.float64) - 0.1
    slopes = F.rrelu(x, 0.2, 0.4, training=True) / x
    assert slopes.min().item() >= 0.2 and slopes.max().item() < 0.4
    assert slopes.mean().item() == pytest.approx(0.3, abs=0.01)
    positive = taeda.ones(3)
    assert taeda.equal(F.rrelu(positive, training=True), positive)


def test_soft_draws_sum_to_one_and_hard_ones_pass_the_gradient_on():
    taeda.manual_seed(0)
    logits = taeda.randn(5, 3, requires_grad=True)
    soft = F.gumbel_softmax(logits, tau=0.5)
    assert taeda.allclose(soft.sum(-1), taeda.ones(5)) and (soft > 0).all()
    hard = F.gumbel_softmax(logits, hard=True, dim=0)
    assert hard.sum(0).tolist() == pytest.approx([1, 1, 1])
    (hard * taeda.randn(5, 3)).sum().backward()
    assert logits.grad.abs().max() > 0


@pytest.mark.parametrize("function", [F.softmax, F.softmin, F.log_softmax])
def test_the_dtype_is_of_the_computation(function):
    x = drawn(3, 4).half()
    assert function(x, 1, dtype=taeda.float64).dtype is taeda.float64
    with pytest.raises(IndexError, match="2"):
        function(x, 2)


def test_crossed_bounds_are_refused():
    with pytest.raises(ValueError, match="min_val=2 and max_val=1"):
        F.hardtanh(taeda.ones(1), 2, 1)
