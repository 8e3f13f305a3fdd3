"""Activation functions against their formulas in float64, and their one-pass gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats

import taeda
from taeda._C import _nn

X = np.concatenate([np.linspace(-9, 9, 181), [0.0, -0.0, 3.0, -3.0, 6.0, 1.0, -1.0, 0.5, -0.5]])


def _softplus(x, beta=1.0, threshold=20.0):
    return np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta)


def _gelu_tanh(x):
    return x * scipy.special.expit(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


SELU = 1.0507009873554804934, 1.6732632423543772848
# name: (arguments, reference)
CASES = {
    "relu": ((), lambda x: np.maximum(x, 0)),
    "relu6": ((), lambda x: np.clip(x, 0, 6)),
    "hardtanh": ((-1.5, 2.5), lambda x: np.clip(x, -1.5, 2.5)),
    "leaky_relu": ((0.1,), lambda x: np.where(x > 0, x, 0.1 * x)),
    "elu": ((1.5,), lambda x: np.where(x > 0, x, 1.5 * np.expm1(x))),
    "selu": ((), lambda x: SELU[0] * np.where(x > 0, x, SELU[1] * np.expm1(x))),
    "celu": ((2.0,), lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2))),
    "gelu": ((), lambda x: x * scipy.stats.norm.cdf(x)),
    "silu": ((), lambda x: x * scipy.special.expit(x)),
    "mish": ((), lambda x: x * np.tanh(_softplus(x, threshold=1e9))),
    "log_sigmoid": ((), lambda x: scipy.special.log_expit(x)),
    "softplus": ((2.0, 5.0), lambda x: _softplus(x, 2.0, 5.0)),
    "hardshrink": ((0.5,), lambda x: np.where(np.abs(x) <= 0.5, 0, x)),
    "softshrink": ((0.5,), lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    "hardsigmoid": ((), lambda x: np.clip(x + 3, 0, 6) / 6),
    "hardswish": ((), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "threshold": ((1.0, -7.0), lambda x: np.where(x > 1, x, -7.0)),
    "softsign": ((), lambda x: x / (1 + np.abs(x))),
    "tanhshrink": ((), lambda x: x - np.tanh(x)),
}
TOLERANCE = {"float64": 1e-14, "float32": 4e-7, "float16": 2e-3, "bfloat16": 1.5e-2}


def function(name):
    return getattr(_nn, name, None) or getattr(taeda, name)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", CASES)
def test_values(name, dtype):
    arguments, reference = CASES[name]
    x = taeda.from_numpy(X).to(getattr(taeda, dtype))
    result = function(name)(x, *arguments)
    assert result.dtype is x.dtype
    expected = reference(x.double().numpy())
    got = result.double().numpy()
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_gelu_forms():
    x = taeda.from_numpy(X)
    np.testing.assert_allclose(_nn.gelu(x, approximate="tanh").numpy(), _gelu_tanh(X), atol=1e-14)
    with pytest.raises(RuntimeError, match="either none or tanh, but got 'fast'"):
        _nn.gelu(x, approximate="fast")


def test_gelu_keeps_the_digits_of_its_tail():
    x = taeda.tensor([-4.0, -5.0])
    expected = x.double().numpy() * scipy.stats.norm.cdf(x.numpy().astype(float))
    np.testing.assert_allclose(_nn.gelu(x).numpy(), expected, rtol=1e-5)


def test_nan_stays_nan():
    x = taeda.tensor([math.nan])
    for name, (arguments, _) in CASES.items():
        if name != "threshold":
            assert math.isnan(function(name)(x, *arguments).item()), name


# name: (arguments after the input, derivative by central differences of the forward function)
GRADIENTS = [
    name
    for name in CASES
    if name not in ("relu", "relu6", "selu", "celu", "elu", "softsign", "tanhshrink")
]


@pytest.mark.parametrize("name", GRADIENTS)
def test_one_pass_gradients(name):
    arguments, reference = CASES[name]
    x = np.linspace(-5.03, 5.07, 97)  # beside the kinks
    passed = arguments[:1] if name == "threshold" else arguments
    gradient = getattr(_nn, f"{name}_backward")(
        taeda.full((97,), 2.0, dtype=taeda.float64), taeda.from_numpy(x), *passed
    )
    step = 1e-6
    slope = (reference(x + step) - reference(x - step)) / (2 * step)
    np.testing.assert_allclose(gradient.numpy(), 2 * slope, rtol=1e-6, atol=1e-8)


def test_gradients_at_kinks_are_those_of_the_flat_side():
    one, zero = taeda.ones(1), taeda.zeros(1)
    assert _nn.threshold_backward(one, zero, 0).item() == 0
    assert _nn.leaky_relu_backward(one, zero, 0.1).item() == pytest.approx(0.1)
    assert _nn.hardtanh_backward(one, one, -1, 1).item() == 0
    assert _nn.hardsigmoid_backward(one, taeda.tensor([3.0])).item() == 0


def test_elu_gradient_from_its_result():
    x = taeda.linspace(-3, 3, 50, dtype=taeda.float64)
    result = _nn.elu(x, 1.5)
    ones = taeda.ones_like(x)
    from_input = _nn.elu_backward(ones, 1.5, 1, 1, False, x)
    from_result = _nn.elu_backward(ones, 1.5, 1, 1, True, result)
    np.testing.assert_allclose(from_input.numpy(), from_result.numpy(), rtol=1e-12)


def test_logit():
    p = taeda.tensor([0.1, 0.5, 0.9], dtype=taeda.float64)
    np.testing.assert_allclose(taeda.logit(p).sigmoid().numpy(), p.numpy())
    assert taeda.logit(taeda.tensor([0.0, 1.0])).tolist() == [-math.inf, math.inf]
    clamped = taeda.logit(taeda.tensor([0.0, 1.0], dtype=taeda.float64), eps=0.25)
    np.testing.assert_allclose(clamped.numpy(), [-math.log(3), math.log(3)])


def test_prelu_broadcasts_its_slopes_along_channels():
    x = -taeda.ones(2, 3, 4)
    slopes = taeda.tensor([1.0, 2.0, 3.0])
    assert taeda.prelu(x, slopes)[0, :, 0].tolist() == [-1.0, -2.0, -3.0]
    assert taeda.prelu(x, slopes[:1])[1, 2].tolist() == [-1.0] * 4
    with pytest.raises(RuntimeError, match="parameter numbers = 3 and channel size = 2"):
        taeda.prelu(taeda.ones(5, 2), slopes)
    with pytest.raises(RuntimeError, match="ndim = 2"):
        taeda.prelu(x, taeda.ones(1, 3))


def test_rrelu():
    x = -taeda.ones(1000)
    assert taeda.rrelu(x, 0.2, 0.4).tolist() == pytest.approx([-0.3] * 1000)
    noisy = taeda.rrelu(x, 0.2, 0.4, training=True)
    assert -0.4 <= noisy.min().item() < noisy.max().item() <= -0.2
    with pytest.raises(RuntimeError, match="Lower bound"):
        taeda.rrelu(x, 0.5, 0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: taeda.celu(taeda.ones(1), 0), "alpha cannot be 0"),
        (lambda: _nn.softshrink(taeda.ones(1), -1), "greater or equal to 0, but found to be -1"),
        (
            lambda: _nn.silu(taeda.ones(1, dtype=taeda.int64)),
            "\"silu\" is not implemented for 'Long'",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64], ids=str)
def test_tanh_is_not_above_its_argument(dtype):
    low = math.log2(taeda.finfo(dtype).smallest_normal)
    size = taeda.exp2(taeda.linspace(low, 3, 20_000, dtype=taeda.float64)).to(dtype)
    for x in (size, -size):
        assert (x.tanh().abs() <= x.abs()).all()
        assert (taeda.nn.functional.tanhshrink(x) * x >= 0).all()


@pytest.mark.parametrize("x", [-88.0, -90.0, -100.0, -103.0])
def test_slopes_of_softplus_keep_denormals(x):
    """Their value is e^x, to the distance of denormals."""
    for function, at in ((taeda.nn.functional.softplus, x), (taeda.nn.functional.logsigmoid, -x)):
        given = taeda.tensor([at], requires_grad=True)
        (slope,) = taeda.autograd.grad(function(given).sum(), given)
        assert abs(slope.item() - math.exp(x)) <= 2e-45 + 4e-7 * math.exp(x)
