"""Elementwise operations against numpy and scipy: values, layouts, targets, refusals."""

from __future__ import annotations

import math
import operator
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.special

import taeda

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
# relative error allowed: the dtype's own rounding, and a few units for float32 functions
RTOL = {"float16": 1.1e-3, "bfloat16": 8.5e-3, "float32": 1e-6, "float64": 4e-15}

# name: (reference, domain)
UNARY = {
    "exp": (np.exp, (-20, 10)),
    "exp2": (np.exp2, (-20, 10)),
    "expm1": (np.expm1, (-5, 5)),
    "log": (np.log, (0.01, 50)),
    "log2": (np.log2, (0.01, 50)),
    "log10": (np.log10, (0.01, 50)),
    "log1p": (np.log1p, (-0.9, 50)),
    "sqrt": (np.sqrt, (0, 50)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (0.01, 50)),
    "reciprocal": (lambda x: 1 / x, (0.1, 50)),
    "square": (np.square, (-50, 50)),
    "sin": (np.sin, (-30, 30)),
    "cos": (np.cos, (-30, 30)),
    "tan": (np.tan, (-1.4, 1.4)),
    "asin": (np.arcsin, (-1, 1)),
    "acos": (np.arccos, (-0.99, 0.99)),
    "atan": (np.arctan, (-20, 20)),
    "sinh": (np.sinh, (-8, 8)),
    "cosh": (np.cosh, (-8, 8)),
    "tanh": (np.tanh, (-12, 12)),
    "asinh": (np.arcsinh, (-50, 50)),
    "acosh": (np.arccosh, (1.01, 50)),
    "atanh": (np.arctanh, (-0.99, 0.99)),
    "sigmoid": (scipy.special.expit, (-20, 20)),
    "erf": (scipy.special.erf, (-4, 4)),
    "erfc": (scipy.special.erfc, (-3, 3)),
    "erfinv": (scipy.special.erfinv, (-0.99, 0.99)),
    "lgamma": (scipy.special.gammaln, (3, 50)),
    "digamma": (scipy.special.digamma, (2, 50)),
    "sinc": (np.sinc, (-0.9, 0.9)),
    "neg": (np.negative, (-50, 50)),
    "abs": (np.abs, (-50, 50)),
    "sign": (np.sign, (-3, 3)),
    "floor": (np.floor, (-50, 50)),
    "ceil": (np.ceil, (-50, 50)),
    "trunc": (np.trunc, (-50, 50)),
    "round": (np.round, (-50, 50)),
    "deg2rad": (np.deg2rad, (-180, 180)),
    "rad2deg": (np.rad2deg, (-4, 4)),
}
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": lambda x, y: np.power(np.abs(x), y),
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "fmod": np.fmod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "logaddexp": np.logaddexp,
    "logaddexp2": np.logaddexp2,
}
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def values(domain, count, dtype, seed=0):
    """Numbers of the domain, exact in `dtype`, as float64."""
    x = np.random.default_rng(seed).uniform(*domain, count)
    return taeda.tensor(x.tolist(), dtype=getattr(taeda, dtype)).to(taeda.float64).numpy()


def tensor(array, dtype):
    return taeda.from_numpy(np.ascontiguousarray(array)).to(getattr(taeda, dtype))


def check(result, expected, rtol):
    got = result.to(taeda.float64).numpy()
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * 1e-2)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name, dtype):
    reference, domain = UNARY[name]
    x = values(domain, 101, dtype)
    result = getattr(taeda, name)(tensor(x, dtype))
    assert result.dtype is getattr(taeda, dtype)
    check(result, reference(x), RTOL[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name, dtype):
    x, y = values((-9, 9), 101, dtype), values((-4, 4), 101, dtype, seed=1)
    first = np.abs(x) if name == "pow" else x
    # a quotient rounded to the dtype may reach the next integer
    exact = name in ("floor_divide", "remainder", "fmod") and dtype in ("float16", "bfloat16")
    rtol = 2 * RTOL[dtype] if exact or dtype == "float32" else RTOL[dtype]
    check(getattr(taeda, name)(tensor(first, dtype), tensor(y, dtype)), BINARY[name](x, y), rtol)


LAYOUTS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t(),
    "every second": lambda t: t[:, ::2],
    "transposed, every second": lambda t: t[::2].t(),
    "one column": lambda t: t[:, 3],
    "repeated": lambda t: t[:, :1].expand(-1, 5),
    "one element": lambda t: t[2, 3],
    "empty": lambda t: t[:0],
}


@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "uint8", "complex64", "complex32"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_bits(layout, dtype):
    x = tensor(np.random.default_rng(0).integers(1, 9, (40, 34)), dtype)
    y = tensor(np.random.default_rng(1).integers(1, 9, (40, 34)), dtype)
    a, b = LAYOUTS[layout](x), LAYOUTS[layout](y)
    plain = taeda.mul(a.contiguous(), b.contiguous())
    assert taeda.equal(taeda.mul(a, b), plain)
    assert taeda.equal(taeda.mul(a, b.contiguous()), plain)
    if dtype in FLOATS:
        assert taeda.equal(taeda.exp(a), taeda.exp(a.contiguous()))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "uint8", "complex128"])
def test_operands_in_different_memory_order(dtype):
    x = np.arange(200 * 300).reshape(200, 300) % 97
    a, b = tensor(x, dtype), tensor(x.T.copy(), dtype).t()
    assert taeda.equal(a + b, a + b.contiguous())
    wide = taeda.stack([a, a * 2]).permute(1, 0, 2)  # [200, 2, 300]
    other = wide.contiguous().permute(2, 1, 0).contiguous().permute(2, 1, 0)
    assert taeda.equal(wide - other, taeda.zeros_like(wide))


@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 1), (1, 4)), ((2, 3, 4), (4,)), ((2, 1, 4), (3, 1)), ((), (2, 3)), ((0, 3), (1,))],
)
def test_broadcasting(a, b):
    x, y = np.random.default_rng(0).random(a), np.random.default_rng(1).random(b)
    result = taeda.from_numpy(np.array(x)) - taeda.from_numpy(np.array(y))
    assert tuple(result.shape) == np.broadcast_shapes(a, b)
    np.testing.assert_array_equal(result.numpy(), x - y)


def test_result_keeps_the_memory_order_of_the_operands():
    x = taeda.zeros(2, 3, 4, 5)
    channels_last = x.contiguous(memory_format=taeda.channels_last)
    assert (channels_last + 1).stride() == channels_last.stride()
    assert (channels_last + x).stride() == channels_last.stride()
    assert (x + channels_last).stride() == x.stride()
    assert taeda.zeros(3, 4).t().exp().stride() == (1, 4)
    assert taeda.zeros(4, 6)[:, ::2].t().neg().stride() == (1, 3)
    assert (taeda.zeros(4).expand(3, 4) + 1).stride() == (4, 1)


# ---- special values ----


@pytest.mark.parametrize("dtype", FLOATS)
def test_infinity_and_nan(dtype):
    x = tensor([math.inf, -math.inf, math.nan, 0.0, -0.0], dtype)
    assert x.exp().tolist()[:2] == [math.inf, 0.0]
    assert math.isnan(x.exp()[2].item())
    assert x[3:].log().tolist() == [-math.inf, -math.inf]
    assert math.isnan(x.log()[1].item())
    assert x.tanh().tolist()[:2] == [1.0, -1.0]
    assert x.sigmoid().tolist()[:2] == [1.0, 0.0]
    assert x.isnan().tolist() == [False, False, True, False, False]
    assert x.isinf().tolist() == [True, True, False, False, False]
    assert x.isfinite().tolist() == [False, False, False, True, True]
    assert x[3:].signbit().tolist() == [False, True]
    assert x.nan_to_num(nan=1.0, posinf=2.0, neginf=3.0).tolist()[:3] == [2.0, 3.0, 1.0]


def test_nan_wins_or_loses():
    x, y = taeda.tensor([math.nan, 1.0, 2.0]), taeda.tensor([1.0, math.nan, 3.0])
    assert taeda.maximum(x, y).isnan().tolist() == [True, True, False]
    assert taeda.minimum(x, y).isnan().tolist() == [True, True, False]
    assert taeda.fmax(x, y).tolist() == [1.0, 1.0, 3.0]
    assert taeda.fmin(x, y).tolist() == [1.0, 1.0, 2.0]


def test_denormal_results_are_not_flushed():
    assert taeda.tensor(-100.0).exp().item() == pytest.approx(math.exp(-100), rel=1e-3)
    assert taeda.tensor(1e-44).log().item() == pytest.approx(math.log(1e-44), rel=1e-2)


@pytest.mark.parametrize(
    "x", [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -8.0, math.inf, -math.inf, math.nan]
)
@pytest.mark.parametrize(
    "y", [0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, 2.5, math.inf, -math.inf, math.nan]
)
def test_power_follows_c(x, y):
    with np.errstate(all="ignore"):
        expected = np.power([x, x], [y, 1.25])[0]
    for dtype in (taeda.float32, taeda.float64):
        # the number 0.5 is the square root, which keeps the sign of zero and refuses -inf
        root = y == 0.5 and math.copysign(1, x) < 0
        for exponent in [taeda.tensor([y, y], dtype=dtype)[:1]] + [y] * (not root):
            result = (taeda.tensor([x], dtype=dtype) ** exponent).item()
            assert result == pytest.approx(expected, rel=1e-6, nan_ok=True)
            assert math.isnan(expected) or math.copysign(1, result) == math.copysign(1, expected)


def test_large_arguments_of_periodic_functions():
    x = np.array([1e4, -3e5, 1e7, 1e15, 3.4e38], np.float32)
    np.testing.assert_allclose(
        taeda.from_numpy(x).sin().numpy(), np.sin(x.astype(float)), rtol=1e-6
    )
    np.testing.assert_allclose(
        taeda.from_numpy(x).cos().numpy(), np.cos(x.astype(float)), rtol=1e-6
    )


def test_polygamma_on_both_sides_of_zero():
    x = np.array([-3.7, -0.5, 0.2, 1.0, 6.5, 200.0])
    for n in range(1, 5):
        expected = (-1) ** (n + 1) * math.factorial(n) * np.array([_zeta(n + 1, v) for v in x])
        np.testing.assert_allclose(
            taeda.polygamma(n, taeda.from_numpy(x)).numpy(), expected, rtol=1e-9
        )
        np.testing.assert_allclose(taeda.from_numpy(x).polygamma(n).numpy(), expected, rtol=1e-9)


def test_polygamma_of_orders_whose_factorial_overflows():
    x = taeda.tensor([2.0, 70.0, 1e9, math.inf], dtype=taeda.float64)
    below = taeda.polygamma(170, x).tolist()
    assert below[0] == pytest.approx(-2.4246705e255) and below[2:] == [0.0, 0.0]
    above = taeda.polygamma(171, x).tolist()
    assert above == [pytest.approx(2.0730931e257), pytest.approx(5.979568e-9), 0.0, 0.0]
    assert taeda.polygamma(1 << 62, x[:1]).tolist() == [-math.inf]  # in no time


def _zeta(s, q):
    left = [(q + k) ** -s for k in range(math.ceil(-q) if q < 0 else 0)]
    return sum(left) + scipy.special.zeta(s, q + len(left))


# ---- integers and bools ----


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "floor_divide", "remainder", "fmod", "maximum", "gcd", "lcm"]
)
def test_integers_follow_numpy_and_wrap(name, dtype):
    info = np.iinfo(dtype)
    edges = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 100]
    x, y = (np.array(v, dtype).ravel() for v in np.meshgrid(edges, edges))
    if name in ("floor_divide", "remainder", "fmod"):
        x, y = x[y != 0], y[y != 0]
    if name in ("gcd", "lcm"):
        x, y = x % 30, y % 30
    with np.errstate(all="ignore"):
        expected = getattr(np, name, None)
        expected = {"add": np.add, "sub": np.subtract, "mul": np.multiply}.get(name, expected)(x, y)
    result = getattr(taeda, name)(taeda.from_numpy(x), taeda.from_numpy(y))
    np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_powers_and_shifts(dtype):
    base, exponent = np.meshgrid(np.array([0, 1, 2, 3, 5], dtype), np.array([0, 1, 2, 3, 6], dtype))
    result = taeda.from_numpy(base.copy()) ** taeda.from_numpy(exponent.copy())
    np.testing.assert_array_equal(result.numpy(), base**exponent)
    x = taeda.from_numpy(np.array([1, 5, 100], dtype))
    assert (x << 1).tolist() == (x * 2).tolist()
    assert (x >> 1).tolist() == [0, 2, 50]
    assert (x << 64).tolist() == [0, 0, 0]
    assert (x >> 64).tolist() == [0, 0, 0]


def test_negative_numbers_shifted_out_leave_their_sign():
    assert (taeda.tensor([-5, 5]) >> taeda.tensor([100, 100])).tolist() == [-1, 0]
    assert (taeda.tensor([-5, 5]) >> taeda.tensor([-1, -1])).tolist() == [-1, 0]


def test_bools():
    x, y = taeda.tensor([True, True, False, False]), taeda.tensor([True, False, True, False])
    assert (x + y).tolist() == (x | y).tolist() == [True, True, True, False]
    assert (x * y).tolist() == (x & y).tolist() == [True, False, False, False]
    assert (x ^ y).tolist() == taeda.logical_xor(x, y).tolist() == [False, True, True, False]
    assert (~x).tolist() == taeda.logical_not(x).tolist() == [False, False, True, True]
    assert (x / y).tolist()[0] == 1.0


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS, "uint16", "uint64"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name, dtype):
    x, y = (np.array(v) for v in ([0, 1, 1, 0, 1], [0, 0, 1, 1, 1]))
    result = getattr(taeda, name)(tensor(x, dtype), tensor(y, dtype))
    assert result.dtype is taeda.bool
    assert result.tolist() == getattr(operator, name)(x, y).tolist()


def test_comparison_with_a_number_that_does_not_fit():
    x = taeda.tensor([1, 255], dtype=taeda.uint8)
    assert (x < 300).tolist() == [True, True]
    assert (x == -1).tolist() == [False, False]
    assert (x != 257).tolist() == [True, True]


# ---- complex numbers ----


@pytest.mark.parametrize(
    "name",
    ["exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atanh", "asin", "square",
     "reciprocal", "expm1", "log1p", "log2", "log10"],
)  # fmt: skip
def test_complex_functions(name):
    rng = np.random.default_rng(0)
    z = (rng.uniform(-2, 2, 50) + 1j * rng.uniform(-2, 2, 50)).astype(np.complex128)
    reference = {"asinh": np.arcsinh, "atanh": np.arctanh, "asin": np.arcsin}.get(
        name, getattr(np, name, None)
    )
    np.testing.assert_allclose(
        getattr(taeda, name)(taeda.from_numpy(z)).numpy(), reference(z), rtol=1e-12
    )


def test_complex_arithmetic():
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=50) + 1j * rng.normal(size=50) for _ in range(2))
    a, b = taeda.from_numpy(x), taeda.from_numpy(y)
    for op in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
        np.testing.assert_allclose(op(a, b).numpy(), op(x, y), rtol=1e-12)
    np.testing.assert_allclose(a.abs().numpy(), np.abs(x))
    np.testing.assert_allclose(a.angle().numpy(), np.angle(x))
    np.testing.assert_allclose(a.sgn().numpy(), x / np.abs(x))
    assert a.abs().dtype is taeda.float64
    assert taeda.add(a, b, alpha=2j).numpy()[0] == pytest.approx(x[0] + 2j * y[0])


# ---- arguments ----


def test_alpha():
    x = taeda.tensor([1, 2, 3])
    assert taeda.add(x, 10, alpha=3).tolist() == [31, 32, 33]
    assert taeda.sub(x, x, alpha=2).tolist() == [-1, -2, -3]
    assert taeda.rsub(x, x, alpha=3).tolist() == [-2, -4, -6]
    for dtype in FLOATS:
        assert taeda.add(x.to(getattr(taeda, dtype)), x, alpha=0.5).tolist() == [1.5, 3.0, 4.5]


@pytest.mark.parametrize(
    ("mode", "expected"), [(None, [-3.5, 3.5]), ("trunc", [-3.0, 3.0]), ("floor", [-4.0, 3.0])]
)
def test_division_modes(mode, expected):
    x = taeda.tensor([-7, 7])
    assert taeda.div(x, 2, rounding_mode=mode).tolist() == expected
    assert taeda.div(x.to(taeda.float32), 2, rounding_mode=mode).tolist() == expected


def test_rounding_to_decimals():
    assert taeda.round(
        taeda.tensor([1.25, 1.35, -2.449], dtype=taeda.float64), decimals=1
    ).tolist() == [1.2, 1.4, -2.4]
    assert taeda.round(taeda.tensor([1234.0, 1251.0]), decimals=-2).tolist() == [1200.0, 1300.0]
    assert taeda.round(taeda.tensor([0.5, 1.5, 2.5])).tolist() == [0.0, 2.0, 2.0]


def test_clamp():
    x = taeda.tensor([-2.0, 0.5, 3.0, math.nan])
    assert x.clamp(-1, 1).tolist()[:3] == [-1.0, 0.5, 1.0]
    assert math.isnan(x.clamp(-1, 1)[3].item())
    assert x.clamp(min=0).tolist()[:3] == [0.0, 0.5, 3.0]
    assert x.clamp(max=0).tolist()[:3] == [-2.0, 0.0, 0.0]
    assert x.clamp(2, 1).tolist()[:3] == [1.0, 1.0, 1.0]
    assert x.clamp(taeda.tensor([-1.0, 1.0, 0.0, 0.0]), taeda.tensor(2.0)).tolist()[:3] == [
        -1.0,
        1.0,
        2.0,
    ]
    assert taeda.tensor([1, 5]).clamp(max=3).tolist() == [1, 3]


def test_where():
    condition = taeda.tensor([True, False, True])
    x = taeda.tensor([1, 2, 3])
    assert taeda.where(condition, x, 0).tolist() == [1, 0, 3]
    assert taeda.where(condition, 1.5, x).dtype is taeda.float32
    assert taeda.where(condition[:, None], x, -x).tolist() == [[1, 2, 3], [-1, -2, -3], [1, 2, 3]]
    for dtype in ("bool", "float16", "complex128", "int8"):
        t = x.to(getattr(taeda, dtype))
        assert taeda.equal(taeda.where(condition, t, t), t)


def test_lerp_addcmul_addcdiv():
    x, y, z = (taeda.tensor(v, dtype=taeda.float64) for v in ([1.0, 2.0], [3.0, 8.0], [2.0, 4.0]))
    assert x.lerp(y, 0.25).tolist() == [1.5, 3.5]
    assert x.lerp(y, taeda.tensor([0.0, 1.0], dtype=taeda.float64)).tolist() == [1.0, 8.0]
    assert taeda.addcmul(x, y, z, value=0.5).tolist() == [4.0, 18.0]
    assert taeda.addcdiv(x, y, z, value=2).tolist() == [4.0, 6.0]


# ---- targets: in-place and out= ----


def test_in_place_forms_write_and_return_self():
    x = taeda.tensor([1.0, 4.0])
    view = x[1:]
    assert x.sqrt_() is x
    assert view.tolist() == [2.0]
    assert x.add_(1, alpha=2).mul_(2).tolist() == [6.0, 8.0]
    column = taeda.zeros(3, 2)[:, 0]
    assert column.add_(taeda.tensor([1.0, 2.0, 3.0])).tolist() == [1.0, 2.0, 3.0]
    half = taeda.ones(5, dtype=taeda.bfloat16)
    assert half.add_(0.5).tolist() == [1.5] * 5


def test_in_place_keeps_its_dtype():
    x = taeda.ones(2, dtype=taeda.float32)
    assert x.mul_(taeda.tensor([2.0, 3.0], dtype=taeda.float64)).dtype is taeda.float32
    with pytest.raises(
        RuntimeError, match="result type Float can't be cast to the desired output type Long"
    ):
        taeda.ones(2, dtype=taeda.int64).add_(1.5)
    with pytest.raises(
        RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"
    ):
        taeda.ones(3).add_(taeda.ones(2, 3))


def test_out():
    x = taeda.tensor([1.0, 2.0])
    out = taeda.empty(2, dtype=taeda.float64)
    assert taeda.add(x, x, out=out) is out
    assert out.tolist() == [2.0, 4.0]
    empty = taeda.empty(0)
    assert taeda.exp(x, out=empty).shape == (2,)
    strided = taeda.zeros(2, 2)
    taeda.add(x, 1, out=strided[:, 1])
    assert strided.tolist() == [[0.0, 2.0], [0.0, 3.0]]
    with pytest.raises(RuntimeError, match="can't be cast"):
        taeda.exp(x, out=taeda.empty(2, dtype=taeda.int64))


def test_overlapping_targets():
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        taeda.ones(1).expand(3).add_(1)
    x = taeda.ones(4)
    for other in (x[0], x[:1], taeda.ones(3)):
        if other.untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
            with pytest.raises(
                RuntimeError, match="some elements of the input tensor and the written-to tensor"
            ):
                x.add_(other)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[1:].add_(x[:-1])
    square = taeda.arange(9.0).reshape(3, 3)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        square.add_(square.t())
    assert x[::2].add_(x[1::2]).tolist() == [2.0, 2.0]


# ---- refusals ----


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda t: t.ones(2, 3) + t.ones(4),
            RuntimeError,
            r"\[2, 3\] and \[4\] .* non-singleton dimension 1",
        ),
        (lambda t: t.tensor([True]) - t.tensor([True]), RuntimeError, "two bool tensors"),
        (lambda t: t.tensor([1]) - t.tensor([True]), RuntimeError, "with a bool tensor"),
        (lambda t: -t.tensor([True]), RuntimeError, "on a bool tensor"),
        (lambda t: +t.tensor([True]), RuntimeError, "on a bool tensor"),
        (
            lambda t: t.add(t.tensor([1]), 1, alpha=1.5),
            RuntimeError,
            "must not be a floating point number",
        ),
        (
            lambda t: t.add(t.tensor([1.0]), 1, alpha=1j),
            RuntimeError,
            "must not be a complex number",
        ),
        (lambda t: t.add(t.tensor([1.0]), 1, alpha=True), RuntimeError, "Boolean factor"),
        (lambda t: t.tensor([1]) // 0, RuntimeError, "ZeroDivisionError"),
        (lambda t: t.tensor([1, 2]) % t.tensor([1, 0]), RuntimeError, "ZeroDivisionError"),
        (lambda t: t.tensor([5], dtype=t.uint8) // 256, RuntimeError, "ZeroDivisionError"),
        (lambda t: t.tensor([2]) ** -1, RuntimeError, "negative integer powers"),
        (
            lambda t: t.tensor([1], dtype=t.uint8).clamp(0, 300),
            RuntimeError,
            "uint8 without overflow: 300",
        ),
        (lambda t: t.clamp(t.ones(1)), RuntimeError, "At least one of 'min' or 'max'"),
        (
            lambda t: t.div(t.ones(1), 2, rounding_mode="up"),
            RuntimeError,
            "'trunc', or 'floor' but found 'up'",
        ),
        (
            lambda t: t.where(t.tensor([1]), 1, 2),
            RuntimeError,
            "boolean tensor, but got a tensor with dtype Long",
        ),
        (lambda t: t.addcdiv(*[t.tensor([1])] * 3), RuntimeError, "integer division"),
        (lambda t: t.lerp(t.ones(1), t.ones(1).double(), 0.5), RuntimeError, "float32 and float64"),
        (
            lambda t: t.maximum(*[t.ones(1, dtype=t.complex64)] * 2),
            NotImplementedError,
            "ComplexFloat",
        ),
        (lambda t: t.ones(1, dtype=t.complex64) < 1, NotImplementedError, '"lt" .*ComplexFloat'),
        (lambda t: t.ones(1, dtype=t.float8_e4m3fn) + 1, NotImplementedError, "Float8_e4m3fn"),
        (lambda t: t.round(t.tensor([1]), decimals=1), NotImplementedError, "Long"),
        (lambda t: t.polygamma(-1, t.ones(1)), RuntimeError, "negative n"),
        (lambda t: t.bitwise_and(2, 3), TypeError, "must be a Tensor"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(taeda)


def test_meta_tensors_have_shape_and_dtype_only():
    x = taeda.empty(2, 3, device="meta")
    y = taeda.empty(3, dtype=taeda.int64, device="meta")
    assert (x + y).device.type == "meta"
    assert (x + y).shape == (2, 3)
    assert (y / 2).dtype is taeda.float32
    assert (x > 0).dtype is taeda.bool
    assert taeda.where(x > 0, x, 0).shape == (2, 3)
    with pytest.raises(RuntimeError, match="must match"):
        x + taeda.empty(4, device="meta")


SUMS = """
import numpy as np, taeda
x = taeda.from_numpy(np.linspace(-4, 4, 1001).astype(np.float32))
parts = [x.exp(), x.tanh(), x.sin(), x.erf(), x * 3 + 1, x.abs().log1p(), x.bfloat16().float()]
print(sum(float(p.double().sum()) for p in parts).hex())
"""


@pytest.mark.parametrize("isa", ["generic", "avx2", "avx512"])
def test_instruction_sets_agree(isa):
    """Another process, as the choice is made once. An instruction set that is not there is not chosen."""
    expected = _sum_of_parts({})
    assert _sum_of_parts({"TAEDA_ISA": isa}) == pytest.approx(expected, rel=1e-7)


def _sum_of_parts(environment):
    run = subprocess.run(
        [sys.executable, "-c", SUMS],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float.fromhex(run.stdout)


# ---- computed by numpy, or in terms of others ----


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_frexp(dtype):
    x = taeda.tensor([0.0, -1.5, 8.0, 0.3, float("inf")]).to(getattr(taeda, dtype))
    mantissa, exponent = taeda.frexp(x)
    want, power = np.frexp(x.double().numpy())
    assert mantissa.tolist() == want.tolist()
    assert exponent.tolist() == power.tolist()
    assert (mantissa.dtype, exponent.dtype) == (x.dtype, taeda.int32)
    with pytest.raises(RuntimeError, match="only supports floating-point dtypes"):
        taeda.frexp(taeda.tensor([1]))


@pytest.mark.parametrize("p", [1, 3])
def test_mvlgamma(p):
    x = taeda.linspace(2, 9, 7, dtype=taeda.float64)
    want = [scipy.special.multigammaln(v, p) for v in x.tolist()]
    np.testing.assert_allclose(x.mvlgamma(p).numpy(), want, rtol=1e-12)
    assert taeda.equal(taeda.special.multigammaln(x, p), x.clone().mvlgamma_(p))
    with pytest.raises(RuntimeError, match="greater than or equal to 1, got 0"):
        x.mvlgamma(0)


# ---- remainders and quotients of every kind of pair ----

EDGES = [
    0.0,
    1e-320,
    5e-45,
    1e-40,
    3e-31,
    1e-30,
    1e-25,
    0.1,
    0.3,
    1,
    2.5,
    7,
    1e7,
    3e7,
    1e20,
    3e38,
    1e300,
]
EDGES = [*EDGES, 1.7e308, math.inf, math.nan]


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remainders_of_all_pairs_of_edges(name, dtype):
    with np.errstate(all="ignore"):
        edges = np.array([*EDGES, *(-x for x in EDGES)]).astype(dtype)
        x, y = (np.ascontiguousarray(grid) for grid in np.meshgrid(edges, edges))
        want = getattr(np, name)(x, y)
    got = getattr(taeda, name)(taeda.from_numpy(x), taeda.from_numpy(y)).numpy()
    np.testing.assert_array_equal(got, want)
    for number in edges.tolist():
        with np.errstate(all="ignore"):
            want = getattr(np, name)(edges, np.array(number, dtype))
        got = getattr(taeda, name)(taeda.from_numpy(edges), number).numpy()
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_nan_to_num_of_complex_numbers_goes_by_parts(dtype):
    parts = [0.5, -2.0, math.nan, math.inf, -math.inf]
    x = taeda.tensor([complex(a, b) for a in parts for b in parts], dtype=getattr(taeda, dtype))
    for words in ({}, {"nan": 3.0, "posinf": 7.0, "neginf": -9.0}):
        got = x.nan_to_num(**words)
        assert got.dtype is x.dtype
        assert taeda.equal(got.real, x.real.nan_to_num(**words))
        assert taeda.equal(got.imag, x.imag.nan_to_num(**words))


def test_results_that_are_too_large_are_refused_before_their_strides_are_counted():
    """Of operands in an order of their own; the sanitized build sees a product that overflows."""
    wide = taeda.empty(1, device="meta").expand(2, 1 << 40).t()
    tall = taeda.empty(1, device="meta").expand(3, 1 << 41).t().reshape(1 << 41, 3, 1, 1)
    with pytest.raises(RuntimeError, match="overflowed 64 bits"):
        wide + tall


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_greatest_common_divisors_of_the_least_and_largest_numbers(dtype):
    info = np.iinfo(dtype)
    ends = [info.max, info.max - 1, info.max // 2 + 1, info.min, info.min + 1]
    numbers = np.array([0, 1, 2, 3, 4, 6, 7, 12, 30, *ends]).astype(dtype)
    a, b = (x.reshape(-1) for x in np.meshgrid(numbers, numbers))
    got = taeda.gcd(taeda.from_numpy(a.copy()), taeda.from_numpy(b.copy())).tolist()
    wanted = [math.gcd(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    span = 2**info.bits  # the largest magnitude of a signed number wraps to itself
    assert got == [w - span if w > info.max else w for w in wanted]


def test_the_physical_conjugate_of_real_numbers_is_the_tensor_itself():
    for x in (taeda.tensor([1.5, -2.0]), taeda.tensor([1, 2]), taeda.tensor([True])):
        assert x.conj_physical() is x
        out = taeda.empty_like(x)
        assert taeda.conj_physical(x, out=out) is out
        assert out.tolist() == x.tolist()
    z = taeda.tensor([1 + 2j, 3 - 4j])
    for given in (z, z.conj().conj()):
        made = given.conj_physical()
        assert made.tolist() == [1 - 2j, 3 + 4j]
        assert made.data_ptr() != z.data_ptr() and not made.is_conj()
    assert z.conj().conj_physical().tolist() == z.tolist()
    assert z.clone().conj_physical_().tolist() == [1 - 2j, 3 + 4j]


LIGHT = {
    "add": taeda.add,
    "add_alpha": lambda x, y: taeda.add(x, y, alpha=2.5),
    "rsub": taeda.rsub,
    "mul": taeda.mul,
    "div": taeda.div,
    "maximum": taeda.maximum,
    "minimum": taeda.minimum,
    "clamp": lambda x, y: taeda.clamp(x, min=y, max=2),
    "sqrt": lambda x, y: taeda.sqrt(x),
    "reciprocal": lambda x, y: taeda.reciprocal(x),
    "neg": lambda x, y: -x,
    "abs": lambda x, y: abs(x),
    "round": lambda x, y: taeda.round(x),
    "leaky_relu": lambda x, y: taeda.nn.functional.leaky_relu(x, 0.5),
}


@pytest.mark.parametrize("dtype", [taeda.float16, taeda.bfloat16], ids=str)
@pytest.mark.parametrize("name", LIGHT)
def test_sixteen_bits_are_computed_in_float32_and_rounded_once(name, dtype):
    every = taeda.arange(-32768, 32768).to(taeda.int16).view(dtype)
    mixed = every[taeda.from_numpy(np.random.default_rng(0).permutation(65536))]
    for n in (1, 5, 8, 31, 65536):
        x, y = every[-n:], mixed[:n]
        wanted = LIGHT[name](x.float(), y.float()).to(dtype).float().numpy()
        assert np.array_equal(LIGHT[name](x, y).float().numpy(), wanted, equal_nan=True)
    x, y = every.reshape(-1, 4)[:, ::3], mixed.reshape(-1, 4)[:, 1:2]  # strided, and repeated
    wanted = LIGHT[name](x.float(), y.float()).to(dtype).float().numpy()
    assert np.array_equal(LIGHT[name](x, y).float().numpy(), wanted, equal_nan=True)


@pytest.mark.parametrize("dtype", [taeda.float16, taeda.bfloat16], ids=str)
def test_sixteen_bits_are_computed_in_place(dtype):
    x = taeda.arange(37).to(dtype)
    x.mul_(x).add_(x, alpha=-1).add_(1)
    assert x.tolist() == [1.0] * 37


@pytest.mark.parametrize("dtype", [taeda.int8, taeda.uint8], ids=str)
def test_floats_become_bytes_by_their_low_bits(dtype):
    rng = np.random.default_rng(0)
    for n in (1, 31, 32, 33, 100, 5000):
        x = taeda.from_numpy((rng.standard_normal(n) * 1e3).astype(np.float32))
        x[::7] = math.nan
        x[::5] = 3e9
        wanted = [v % 256 for v in x.to(taeda.int32).tolist()]
        assert [v % 256 for v in x.to(dtype).tolist()] == wanted
        wide = taeda.stack([x, x], 1)
        assert [v % 256 for v in wide[:, 1].to(dtype).tolist()] == wanted


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 7, 129, 700])
def test_a_number_that_repeats_may_be_either_operand(dtype, n):
    rng = np.random.default_rng(0)
    row, column = (
        rng.standard_normal((1, n)).astype(dtype),
        rng.standard_normal((3, 1)).astype(dtype),
    )
    a, b = taeda.from_numpy(column), taeda.from_numpy(row)
    for first, second, x, y in ((a, b, column, row), (b, a, row, column)):
        np.testing.assert_array_equal((first * second).numpy(), x * y)
        np.testing.assert_array_equal((first / second).numpy(), x / y)
        np.testing.assert_array_equal((first + second).numpy(), x + y)
        np.testing.assert_array_equal((first - second).numpy(), x - y)
        np.testing.assert_array_equal(taeda.rsub(first, second).numpy(), y - x)
        scaled = taeda.sub(first, second, alpha=0.3).numpy()
        np.testing.assert_allclose(scaled, x - np.asarray(0.3, dtype) * y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("step", [1, 3])
def test_a_zero_anywhere_among_divisors_is_found(dtype, step):
    divisors = np.ones(step * 200, dtype)[::step]
    x = taeda.from_numpy(divisors.copy())
    for place in (0, 63, 130, 199):
        divisors[:] = 3
        divisors[place] = 0
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            x // taeda.from_numpy(divisors)
        divisors[place] = 1
        assert (x // taeda.from_numpy(divisors)).sum().item() == 1


@pytest.mark.parametrize("dtype", [taeda.uint8, taeda.uint16, taeda.uint32, taeda.uint64], ids=str)
@pytest.mark.parametrize("name", ["floor", "ceil", "round", "trunc", "signbit"])
def test_unsigned_integers_are_whole_and_not_negative(name, dtype):
    top = taeda.iinfo(dtype).max
    x = taeda.tensor([0, 1, top], dtype=dtype)
    found = getattr(taeda, name)(x)
    assert found.tolist() == ([False] * 3 if name == "signbit" else [0, 1, top])
    assert found.dtype is (taeda.bool if name == "signbit" else dtype)


@pytest.mark.parametrize(
    ("sizes", "strides", "kept"),
    [
        ((4, 1), (1, 4), (1, 4)),
        ((1, 4), (1, 1), (1, 1)),
        ((1, 1, 3), (1, 1, 1), (1, 1, 1)),
        ((2, 1, 3), (3, 1, 1), (3, 1, 1)),
        ((1, 3, 1), (1, 1, 9), (1, 1, 3)),
        ((2, 1, 3), (3, 7, 1), (3, 6, 1)),
        ((1,), (5,), (1,)),
    ],
)
def test_a_number_keeps_the_order_of_dimensions_of_size_one(sizes, strides, kept):
    x = taeda.zeros(64).as_strided(sizes, strides)
    beside = [
        x / 2,
        x <= float("inf"),
        x.double() * 3,
        x.half() + taeda.tensor(2, dtype=taeda.int16),
        1 - x,
    ]
    assert {made.stride() for made in beside} == {kept}
    new = [x + x, x.exp(), x == x, taeda.where(x > 0, x, x)]
    assert {made.stride() for made in new} == {taeda.empty(sizes).stride()}
