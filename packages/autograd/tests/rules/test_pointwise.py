"""First and second derivatives of elementwise operations against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from derivative_inputs import between, both_orders

import taeda
from taeda._C import _nn
from taeda.autograd import gradcheck

# name: where its argument may lie, away from kinks and poles
UNARY = {
    "neg": (-3, 3), "abs": (0.2, 3), "square": (-3, 3), "reciprocal": (0.5, 3), "sqrt": (0.5, 3),
    "rsqrt": (0.5, 3), "exp": (-2, 2), "exp2": (-2, 2), "expm1": (-2, 2), "log": (0.5, 3),
    "log2": (0.5, 3), "log10": (0.5, 3), "log1p": (-0.5, 3), "sin": (-3, 3), "cos": (-3, 3),
    "tan": (-1, 1), "asin": (-0.8, 0.8), "acos": (-0.8, 0.8), "atan": (-3, 3), "sinh": (-2, 2),
    "cosh": (-2, 2), "tanh": (-2, 2), "asinh": (-3, 3), "acosh": (1.5, 4), "atanh": (-0.8, 0.8),
    "sigmoid": (-3, 3), "logit": (0.2, 0.8), "erf": (-2, 2), "erfc": (-2, 2), "erfinv": (-0.8, 0.8),
    "lgamma": (0.5, 4), "digamma": (1.5, 4), "sinc": (0.1, 0.9), "deg2rad": (-3, 3),
    "rad2deg": (-3, 3), "frac": (0.1, 0.9), "floor": (0.1, 0.9), "sign": (0.1, 3), "relu": (0.2, 3),
    "selu": (-2, -0.2), "nan_to_num": (-3, 3), "positive": (-3, 3),
}  # fmt: skip
BINARY = {
    "add": (-3, 3), "sub": (-3, 3), "rsub": (-3, 3), "mul": (-3, 3), "div": (0.5, 3),
    "pow": (0.5, 3), "float_power": (0.5, 3), "remainder": (0.5, 3), "fmod": (0.5, 3),
    "atan2": (0.5, 3), "hypot": (0.5, 3), "maximum": (-3, 3), "minimum": (-3, 3), "fmax": (-3, 3),
    "fmin": (-3, 3), "copysign": (0.5, 3), "logaddexp": (-3, 3), "logaddexp2": (-3, 3),
    "xlogy": (0.5, 3), "ldexp": (0.5, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name):
    both_orders(getattr(taeda, name), between(*UNARY[name]))


@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name):
    x, y = between(*BINARY[name]), between(*BINARY[name], seed=1, shape=(4,))
    both_orders(getattr(taeda, name), x, y)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: taeda.clamp(x, -1, 1),
        lambda x: taeda.clamp(x, min=0.1),
        lambda x: taeda.add(x, x * 2, alpha=0.3),
        lambda x: taeda.div(x, 0.7, rounding_mode=None),
        lambda x: taeda.div(x, 0.7, rounding_mode="floor"),
        lambda x: x**3,
        lambda x: x**0,
        lambda x: 2.0**x,
        lambda x: taeda.where(x > 0, x * 2, 3.0),
        lambda x: taeda.polygamma(2, x.abs() + 1),
        lambda x: taeda.round(x, decimals=1),
    ],
)
def test_with_arguments(function):
    both_orders(function, between(-2.9, 2.9, seed=3))


def test_three_operands():
    x, y, z = (between(0.5, 2, seed=k) for k in range(3))
    both_orders(lambda x, y, z: taeda.addcmul(x, y, z, value=0.7), x, y, z)
    both_orders(lambda x, y, z: taeda.addcdiv(x, y, z, value=0.7), x, y, z)
    both_orders(taeda.lerp, x, y, z)
    both_orders(taeda.clamp, x, y, z)
    both_orders(lambda x, y: taeda.where(x > y, x, y), x, y)


COMPLEX = [
    "neg", "square", "reciprocal", "sqrt", "rsqrt", "exp", "log", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "asinh", "atanh", "sigmoid", "abs", "angle", "sgn", "conj_physical", "log1p",
    "expm1", "log2", "log10", "asin", "acos", "atan", "acosh",
]  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name):
    rng = np.random.default_rng(0)
    z = taeda.from_numpy(rng.uniform(0.3, 1, 5) + 1j * rng.uniform(0.3, 1, 5)).requires_grad_()
    both_orders(getattr(taeda, name), z)


# name: the gradient by z towards a cotangent of one; the size of z takes it to a power
SCALED = {"angle": lambda z: 1j * z / abs(z) ** 2, "abs": lambda z: z / abs(z)}


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("exponent", range(-36, 37, 6))
@pytest.mark.parametrize("turn", [0.1, 2.0, -1.5])
def test_complex_of_any_size(name, exponent, turn):
    """A square of the size has no place in complex64; the gradient has one."""
    value = taeda.polar(taeda.tensor([2.0 * 10.0**exponent]), taeda.tensor([turn]))
    z = value.requires_grad_()
    getattr(taeda, name)(z).sum().backward()
    want = SCALED[name](complex(z.item()))
    assert abs(z.grad.item() - want) <= 1e-6 * abs(want)


def test_angle_of_zero_turns_nowhere():
    z = taeda.zeros(2, dtype=taeda.complex64, requires_grad=True)
    z.angle().sum().backward()
    assert z.grad.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "logaddexp"])
def test_complex_pairs(name):
    rng = np.random.default_rng(0)
    z, w = (
        taeda.from_numpy(rng.uniform(0.3, 1, 5) + 1j * rng.uniform(0.3, 1, 5)).requires_grad_()
        for _ in range(2)
    )
    both_orders(getattr(taeda, name), z, w)
    real = between(0.5, 2, shape=(5,))
    both_orders(getattr(taeda, name), real, w)


# ---- kinks, ties and edges ----


def slopes(function, *values):
    inputs = [taeda.tensor(v, requires_grad=True) for v in values]
    function(*inputs).sum().backward()
    return [x.grad.tolist() for x in inputs]


def test_kinks_take_the_smallest_slope():
    assert slopes(taeda.relu, [-1.0, 0.0, 2.0]) == [[0.0, 0.0, 1.0]]
    assert slopes(taeda.abs, [-1.0, 0.0, 2.0]) == [[-1.0, 0.0, 1.0]]
    assert slopes(_nn.relu6, [0.0, 6.0, 3.0]) == [[0.0, 0.0, 1.0]]
    assert slopes(lambda x: x.clamp(0, 1), [0.0, 0.5, 1.0, 2.0]) == [[1.0, 1.0, 1.0, 0.0]]
    assert slopes(taeda.sqrt, [0.0]) == [[math.inf]]


def test_ties():
    assert slopes(taeda.maximum, [1.0, 2.0], [1.0, 1.0]) == [[0.5, 1.0], [0.5, 0.0]]
    assert slopes(taeda.minimum, [1.0, 2.0], [1.0, 1.0]) == [[0.5, 0.0], [0.5, 1.0]]
    assert slopes(taeda.fmax, [1.0, math.nan], [1.0, 1.0]) == [[1.0, 0.0], [0.0, 1.0]]


def test_powers_of_zero():
    assert slopes(lambda x: x**0, [0.0, 2.0]) == [[0.0, 0.0]]
    assert slopes(lambda x: x**2, [0.0, 2.0]) == [[0.0, 4.0]]
    assert slopes(taeda.pow, [0.0, 0.0], [2.0, 0.0]) == [[0.0, 0.0], [0.0, 0.0]]
    assert slopes(lambda y: 0.0**y, [1.0, 0.0]) == [[0.0, 0.0]]


def test_crossed_bounds_give_all_to_the_upper():
    grads = slopes(taeda.clamp, [0.0, 5.0], [2.0, 2.0], [1.0, 1.0])
    assert grads == [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize("name", ["floor_divide", "heaviside"])
def test_steps_refuse(name):
    x = taeda.tensor([1.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match=f"derivative for '{name}'"):
        getattr(taeda, name)(x, x).sum().backward()


def test_results_without_derivative():
    x = taeda.tensor([1.0], requires_grad=True)
    for result in (x > 0, x.isnan(), taeda.logical_not(x), x.signbit()):
        assert not result.requires_grad


def test_powers_of_negative_integers_by_complex_exponents():
    base = taeda.tensor([-2, 0, 3])
    exponent = taeda.tensor([1 + 1j, 0.5, -1 + 1j], dtype=taeda.complex128).requires_grad_()
    assert gradcheck(lambda e: (base**e)[::2], (exponent,), check_forward_ad=True)


def test_powers_by_truth_values():
    x = taeda.tensor([0.0, 2.0, -3.0], requires_grad=True)
    (x**True).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


# ---- where formulas lose their footing ----

INF, NAN = math.inf, math.nan


def gradients(function, *values, dtype=taeda.float64):
    """The gradient of a function of numbers."""
    made = [taeda.tensor(v, dtype=dtype, requires_grad=True) for v in values]
    return [g.tolist() for g in taeda.autograd.grad(function(*made).sum(), made)]


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
def test_atan2_has_a_gradient_wherever_its_argument_lies(dtype):
    assert gradients(taeda.atan2, [0.0], [0.0], dtype=dtype) == [[0], [0]]
    for scale in (1e-30, 1.0, 1e30):
        (a,), (b,) = gradients(taeda.atan2, [3 * scale], [4 * scale], dtype=dtype)
        np.testing.assert_allclose([a * scale, b * scale], [0.16, -0.12], rtol=1e-6)


def test_logsumexp_of_infinities():
    def weights(row):
        return gradients(lambda x: x.logsumexp(0), row)[0]

    np.testing.assert_array_equal(weights([INF, 1, 2]), [NAN, 0, 0])
    np.testing.assert_array_equal(weights([INF, INF, 2]), [NAN, NAN, 0])
    np.testing.assert_array_equal(weights([-INF, -INF]), [0, 0])
    np.testing.assert_allclose(weights([-INF, 1, 1]), [0, 0.5, 0.5])


def test_trigamma_of_huge_arguments():
    x = [1e100, 1e150, 1e160, 1e162, 1e200, 1e308]
    np.testing.assert_allclose(gradients(taeda.digamma, x)[0], [1 / v for v in x], rtol=1e-15)


def test_the_slope_of_copysign_is_a_sign():
    inf, nan = float("inf"), float("nan")
    x = taeda.tensor([1.0, -2.0, 0.0, -0.0, inf, -inf, nan, 3e-9], requires_grad=True)
    (slope,) = taeda.autograd.grad(taeda.copysign(x, -1.0).sum(), x, create_graph=True)
    wanted = taeda.tensor([-1.0, 1.0, 0.0, 0.0, -1.0, 1.0, nan, -1.0])
    taeda.testing.assert_close(slope.detach(), wanted, equal_nan=True)


@pytest.mark.parametrize("f", [taeda.logaddexp, taeda.logaddexp2])
def test_derivatives_of_sums_of_powers_far_away_are_0(f):
    x = taeda.tensor([1e3, -1e3, 1e19, -1e19], requires_grad=True)
    y, wanted = f(x, -x), x.detach().sign()
    for _ in range(3):
        (y,) = taeda.autograd.grad(y.sum(), x, create_graph=True)
        assert y.tolist() == wanted.tolist()
        wanted = taeda.zeros(4)


@pytest.mark.parametrize("f", [taeda.logaddexp, taeda.logaddexp2])
def test_two_equal_infinities_share_a_gradient(f):
    x = taeda.tensor([float("-inf"), float("inf")], requires_grad=True)
    (slope,) = taeda.autograd.grad(f(x, x.detach()).sum(), x)
    assert slope.tolist() == [0.5, 0.5]
