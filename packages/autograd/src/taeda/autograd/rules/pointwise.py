"""Derivatives of elementwise operations.

At kinks the subgradient of smallest norm is taken (abs'(0) = 0); `maximum` halves the gradient
where both are equal. Complex rules give the conjugate derivative: a function f(z) analytic in z has
the rule grad * conj(f'(z)). A number of the call arrives as a number, not as a Tensor.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn

from ._registry import by_transposition, differentiated, not_differentiable, rule, rule_as_is


def _cj(x: Any) -> Any:
    """The conjugate, at no cost for real values."""
    if isinstance(x, Tensor):
        return x.conj() if x.is_complex() else x
    return x.conjugate() if isinstance(x, complex) else x


def _none(grad: Tensor) -> Tensor:
    """The gradient of what does not change: zeros."""
    return taeda.zeros_like(grad)


def _refusal(name: str) -> Callable[..., Tensor]:
    """For steps, whose zero derivative would hide a mistake."""

    def refuse(grad: Tensor) -> Tensor:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented")

    return refuse


# ---- arithmetic ----


def _scaled(grad: Tensor, factor: Any) -> Tensor:
    return grad if factor == 1 else -grad if factor == -1 else grad * _cj(factor)


rule_as_is("add.Tensor", self=lambda grad: grad, other=lambda grad, alpha: _scaled(grad, alpha))
rule_as_is("sub.Tensor", self=lambda grad: grad, other=lambda grad, alpha: _scaled(grad, -alpha))
rule_as_is("rsub.Tensor", self=lambda grad, alpha: _scaled(grad, -alpha), other=lambda grad: grad)
rule_as_is(
    "mul.Tensor",
    self=lambda grad, other: grad * _cj(other),
    other=lambda grad, self: grad * _cj(self),
)


def _div_other(grad: Tensor, self: Any, other: Tensor) -> Tensor:
    return -grad * _cj((self / other) / other)


rule("div.Tensor", self=lambda grad, other: grad / _cj(other), other=_div_other)


def _div_mode_self(grad: Tensor, other: Any, rounding_mode: str | None) -> Tensor:
    return grad / _cj(other) if rounding_mode is None else _none(grad)


def _div_mode_other(grad: Tensor, self: Any, other: Tensor, rounding_mode: str | None) -> Tensor:
    return _div_other(grad, self, other) if rounding_mode is None else _none(grad)


rule("div.Tensor_mode", self=_div_mode_self, other=_div_mode_other)
rule(
    "remainder.Tensor",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * taeda.div(self, other, rounding_mode="floor"),
)
rule(
    "fmod.Tensor",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * taeda.div(self, other, rounding_mode="trunc"),
)
rule("floor_divide", self=_refusal("floor_divide"), other=_refusal("floor_divide"))
rule_as_is("neg", self=lambda grad: -grad)
rule("reciprocal", self=lambda grad, result: -grad * _cj(result * result))
rule("square", self=lambda grad, self: grad * _cj(2 * self))
rule("sqrt", self=lambda grad, result: grad / _cj(2 * result))
rule("rsqrt", self=lambda grad, result: -0.5 * grad * _cj(result**3))
rule(
    "addcmul",
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * _cj(tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * _cj(tensor1 * value),
)


def _addcdiv_divisor(grad: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Tensor:
    # the square of a small divisor has no place in the dtype
    return -grad * _cj(value * (tensor1 / tensor2) / tensor2)


rule(
    "addcdiv",
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * _cj(value / tensor2),
    tensor2=_addcdiv_divisor,
)
rule(
    "lerp.Tensor",
    self=lambda grad, weight: grad * _cj(1 - weight),
    end=lambda grad, weight: grad * _cj(weight),
    weight=lambda grad, self, end: grad * _cj(end - self),
)


# ---- powers ----


def _pow_base(grad: Tensor, self: Tensor, exponent: Any) -> Tensor:
    if not isinstance(exponent, Tensor):
        if exponent == 0:
            return taeda.zeros_like(self)
        return grad * _cj(exponent * self ** (exponent - 1))
    if exponent.dtype is taeda.bool:
        exponent = exponent.to(taeda.int64)
    base = taeda.where(exponent == 0, 1.0, self)
    return grad * _cj(exponent * base ** (exponent - 1))


def _log(x: Any, dtype: Any) -> Any:
    """In the precision of `dtype`; a negative number has one if that is complex."""
    if isinstance(x, Tensor):
        return x.to(dtype).log()
    if dtype.is_complex and not isinstance(x, complex):
        x = complex(x)
    if isinstance(x, complex):
        return cmath.log(x) if x != 0 else complex(-math.inf, 0.0)
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def _pow_exponent(grad: Tensor, self: Any, exponent: Tensor, result: Tensor) -> Tensor:
    """Zero to a power that is not negative does not change."""
    flat = (exponent.real if exponent.is_complex() else exponent) >= 0
    if isinstance(self, Tensor):
        base = taeda.where((self == 0) & flat, 1.0, self)
        return grad * _cj(result * _log(base, result.dtype))
    logarithm = _log(self, result.dtype)
    return grad * _cj(result * (taeda.where(flat, 0.0, logarithm) if self == 0 else logarithm))


def _as(x: Any, dtype: Any) -> Any:
    return x.to(dtype) if isinstance(x, Tensor) else x


rule("pow.Tensor_Tensor", self=_pow_base, exponent=_pow_exponent)
rule(
    "float_power.Tensor_Tensor",
    self=lambda grad, self, exponent: _pow_base(
        grad, _as(self, grad.dtype), _as(exponent, grad.dtype)
    ),
    exponent=lambda grad, self, exponent, result: _pow_exponent(
        grad, _as(self, grad.dtype), _as(exponent, grad.dtype), result
    ),
)


# ---- exponentials and logarithms ----

rule_as_is("exp", self=lambda grad, result: grad * _cj(result))
rule("exp2", self=lambda grad, result: grad * _cj(result) * math.log(2))
rule("expm1", self=lambda grad, self: grad * _cj(self.exp()))  # the result + 1 cancels on the left
rule_as_is("log", self=lambda grad, self: grad / _cj(self))
# not of self * log(2): of its square comes the second derivative, which overflows before that does
rule("log2", self=lambda grad, self: grad / math.log(2) / _cj(self))
rule("log10", self=lambda grad, self: grad / math.log(10) / _cj(self))
rule("log1p", self=lambda grad, self: grad / _cj(self + 1))


def _apart(self: Tensor, other: Tensor) -> Tensor:
    """self - other; 0 between equal infinities."""
    return taeda.where((self == other) & self.isinf(), 0.0, self - other)


def _portion(self: Tensor, other: Tensor) -> Tensor:
    """exp(self) of exp(self) + exp(other)."""
    if self.is_complex() or other.is_complex():
        return 1 / _cj(1 + (other - self).exp())
    return _apart(self, other).sigmoid()


def _portion_of_2(self: Tensor, other: Tensor) -> Tensor:
    """The same of powers of 2: the smaller one over the larger one is at most 1."""
    d = _apart(self, other)
    ratio = taeda.where(d >= 0, -d, d).exp2()
    return taeda.where(d >= 0, 1.0, ratio) / (1 + ratio)


rule(
    "logaddexp",
    self=lambda grad, self, other: grad * _portion(self, other),
    other=lambda grad, self, other: grad * _portion(other, self),
)
rule(
    "logaddexp2",
    self=lambda grad, self, other: grad * _portion_of_2(self, other),
    other=lambda grad, self, other: grad * _portion_of_2(other, self),
)


def _xlogy_self(grad: Tensor, self: Tensor, other: Any) -> Tensor:
    if not isinstance(other, Tensor):
        if other > 0:
            return taeda.xlogy(grad, other)
        return grad * taeda.where(self == 0, 0.0, -math.inf if other == 0 else math.nan)
    return taeda.xlogy(grad, taeda.where((self == 0) & (other <= 0), 1.0, other))


rule("xlogy.Tensor", self=_xlogy_self, other=lambda grad, self, other: grad * self / other)


# ---- trigonometric and hyperbolic ----

rule("sin", self=lambda grad, self: grad * _cj(self.cos()))
rule("cos", self=lambda grad, self: grad * -_cj(self.sin()))
rule("tan", self=lambda grad, result: grad * _cj(1 + result * result))


def _one_less_square(x: Tensor) -> Tensor:
    """1 - x², with all its digits near 1 and -1, where a rounded square loses them."""
    exact = (1 - x) * (1 + x)
    if not differentiated():
        return exact
    square = 1 - x * x  # has the derivative -2x; that of the factors cancels near 0
    return square + (exact - square).detach()


def _one_and_square(z: Tensor) -> Tensor:
    """1 + z², for complex numbers with all its digits near i and -i, as `_one_less_square` near 1 and -1."""
    return _one_less_square(z * 1j) if z.is_complex() else z * z + 1


rule("asin", self=lambda grad, self: grad * _cj(_one_less_square(self).rsqrt()))
rule("acos", self=lambda grad, self: grad * -_cj(_one_less_square(self).rsqrt()))
rule("atan", self=lambda grad, self: grad / _cj(_one_and_square(self)))
rule("sinh", self=lambda grad, self: grad * _cj(self.cosh()))
rule("cosh", self=lambda grad, self: grad * _cj(self.sinh()))


def _asinh(grad: Tensor, self: Tensor) -> Tensor:
    if self.is_complex():
        return grad * _cj(_one_and_square(self).rsqrt())
    return grad / taeda.hypot(self, taeda.ones_like(self))  # whose square may be infinite


rule("asinh", self=_asinh)
rule("acosh", self=lambda grad, self: grad * _cj((self - 1).rsqrt() * (self + 1).rsqrt()))
rule("atanh", self=lambda grad, self: grad / _cj(_one_less_square(self)))
rule_as_is("deg2rad", self=lambda grad: grad * (math.pi / 180))
rule_as_is("rad2deg", self=lambda grad: grad * (180 / math.pi))


def _tanh(grad: Tensor, result: Tensor) -> Tensor:
    if result.is_complex():
        return grad * _cj(1 - result * result)
    return _nn.tanh_backward(grad, result)


rule_as_is("tanh", self=_tanh)
rule(
    "tanh_backward",
    grad_output=lambda grad, output: _nn.tanh_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * (-2 * output),
)


def _turned(grad: Tensor, side: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """grad * side / r^2, where the square has a place in the dtype or not; 0 at the origin."""
    radius = taeda.hypot(self, other)
    origin = radius == 0
    radius = taeda.where(origin, 1.0, radius)
    return taeda.where(origin, 0.0, grad) * (side / radius) / radius


rule(
    "atan2",
    self=lambda grad, self, other: _turned(grad, other, self, other),
    other=lambda grad, self, other: _turned(grad, -self, self, other),
)


def _hypot(grad: Tensor, side: Tensor, other: Tensor, side_dtype: Any, result: Tensor) -> Tensor:
    """Its share of the length; 0 at the origin, as that of a norm."""
    if side_dtype is not side.dtype:  # the length may lie beyond 16 bits, its gradient does not
        result = taeda.hypot(side, other)
    origin = result == 0
    return grad * taeda.where(origin, 0.0, side / taeda.where(origin, 1.0, result))


rule(
    "hypot",
    self=lambda grad, self, other, self_dtype, result: _hypot(
        grad, self, other, self_dtype, result
    ),
    other=lambda grad, self, other, other_dtype, result: _hypot(
        grad, other, self, other_dtype, result
    ),
)


# sinc'(x) / x as a series in (pi x)^2
_SINC_SLOPES = [math.pi**2 * (-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(1, 16)]


def _cos_of_turns(x: Tensor) -> Tensor:
    """cos(pi x), without whole turns, which have no digits of a large x to lose."""
    if not x.is_complex():
        x = x - 2 * (x.detach() / 2).round()
    return (x * math.pi).cos()


def _sinc_slope(x: Tensor) -> Tensor:
    """(cos(pi x) - sinc(x)) / x, whose terms grow equal at 0."""
    near = x.abs() < 0.5
    small, large = taeda.where(near, x, 0.0), taeda.where(near, 0.5, x)
    square, series = (small * math.pi) ** 2, taeda.full_like(x, _SINC_SLOPES[-1])
    for c in reversed(_SINC_SLOPES[:-1]):
        series = series * square + c
    return taeda.where(near, small * series, (_cos_of_turns(large) - large.sinc()) / large)


rule("sinc", self=lambda grad, self: grad * _cj(_sinc_slope(self)))

# ---- special functions ----

_ROOT_PI = math.sqrt(math.pi)
rule("erf", self=lambda grad, self: grad * (2 / _ROOT_PI) * (-(self * self)).exp())
rule("erfc", self=lambda grad, self: grad * (-2 / _ROOT_PI) * (-(self * self)).exp())
rule("erfinv", self=lambda grad, result: grad * (_ROOT_PI / 2) * (result * result).exp())
rule("lgamma", self=lambda grad, self: grad * self.digamma())
rule("digamma", self=lambda grad, self: grad * taeda.polygamma(1, self))
for _name in ("polygamma", "polygamma.of"):
    rule(_name, self=lambda grad, n, self: grad * taeda.polygamma(n + 1, self))


# ---- rounding and signs ----

for _name in ("floor", "ceil", "trunc", "round", "round.decimals", "sign"):
    rule_as_is(_name, self=_none)
rule_as_is("frac", self=lambda grad: grad)
rule_as_is("abs", self=lambda grad, self: grad * self.sgn())


def _sgn(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The direction changes only across the radius."""
    if not self.is_complex():
        return _none(grad)
    zero = self == 0
    grad = taeda.where(zero, 0.0, grad)
    return (grad - (grad * result.conj()).real * result) / taeda.where(zero, 1.0, self.abs())


def _angle(grad: Tensor, self: Tensor) -> Tensor:
    if not self.is_complex():
        return taeda.zeros_like(self)
    x, y = self.real, self.imag
    return taeda.complex(_turned(grad, -y, x, y), _turned(grad, x, x, y))


def _copysign(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    same = self.sign() * result.sign()  # constant but at 0, where it is 0
    return grad * taeda.where(self.isnan(), self, same)


rule("sgn", self=_sgn)
by_transposition("sgn")
rule("angle", self=_angle)
rule("_conj_physical", self=lambda grad: grad.conj())
rule_as_is("nan_to_num", self=lambda grad, self: grad * self.isfinite())
rule("copysign.Tensor", self=_copysign, other=_none)


rule_as_is("nextafter", self=lambda grad: grad, other=_none)
rule("heaviside", self=_refusal("heaviside"), values=_refusal("heaviside"))


# ---- choosing ----


def _clamp(grad: Tensor, self: Tensor, min: Any, max: Any) -> Tensor:
    if min is None:
        return taeda.where(self <= max, grad, 0.0)
    inside = self >= min if max is None else (self >= min) & (self <= max)
    return taeda.where(inside, grad, 0.0)


def _clamp_low(grad: Tensor, self: Tensor, min: Tensor, max: Any) -> Tensor:
    taken = self < min if max is None else (self < min) & (min < max)
    return taeda.where(taken, grad, 0.0)


def _clamp_high(grad: Tensor, self: Tensor, min: Any, max: Tensor) -> Tensor:
    """The upper bound wins where the two cross."""
    taken = self > max if min is None else (self > max) | (max < min)
    return taeda.where(taken, grad, 0.0)


rule_as_is("clamp", self=_clamp, min=_clamp_low, max=_clamp_high)
rule_as_is(
    "clamp_min",
    self=lambda grad, self, min: taeda.where(self >= min, grad, 0.0),
    min=lambda grad, self, min: taeda.where(self < min, grad, 0.0),
)
rule_as_is(
    "clamp_max",
    self=lambda grad, self, max: taeda.where(self <= max, grad, 0.0),
    max=lambda grad, self, max: taeda.where(self > max, grad, 0.0),
)


def _share(grad: Tensor, own: Tensor, other: Tensor, loses: Tensor) -> Tensor:
    """All of the gradient, half of it on equality, none for the loser."""
    return taeda.where(loses, 0.0, taeda.where(own == other, grad / 2, grad))


rule_as_is(
    "maximum",
    self=lambda grad, self, other: _share(grad, self, other, self < other),
    other=lambda grad, self, other: _share(grad, other, self, other < self),
)
rule_as_is(
    "minimum",
    self=lambda grad, self, other: _share(grad, self, other, self > other),
    other=lambda grad, self, other: _share(grad, other, self, other > self),
)


def _first_of_max(self: Tensor, other: Tensor) -> Tensor:
    return (self >= other) | other.isnan()


def _first_of_min(self: Tensor, other: Tensor) -> Tensor:
    return (self <= other) | other.isnan()


rule_as_is(
    "fmax",
    self=lambda grad, self, other: taeda.where(_first_of_max(self, other), grad, 0.0),
    other=lambda grad, self, other: taeda.where(_first_of_max(self, other), 0.0, grad),
)
rule_as_is(
    "fmin",
    self=lambda grad, self, other: taeda.where(_first_of_min(self, other), grad, 0.0),
    other=lambda grad, self, other: taeda.where(_first_of_min(self, other), 0.0, grad),
)
rule_as_is(
    "where.self",
    self=lambda grad, condition: taeda.where(condition, grad, 0.0),
    other=lambda grad, condition: taeda.where(condition, 0.0, grad),
)

# ---- results that are no numbers that change ----

for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    not_differentiable(f"{_name}.Tensor", "returns truth values")
for _name in (
    *("isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit"),
    *("logical_not", "logical_and", "logical_or", "logical_xor"),
):
    not_differentiable(_name, "returns truth values")
for _name in (
    *("bitwise_not", "gcd", "lcm"),
    *("bitwise_and.Tensor", "bitwise_or.Tensor", "bitwise_xor.Tensor"),
    *("bitwise_left_shift.Tensor", "bitwise_right_shift.Tensor"),
    *("__and__", "__or__", "__xor__", "__lshift__", "__rshift__"),
):
    not_differentiable(_name, "works on integers")

rule(
    "frexp",
    differentiable_results=1,
    self=lambda grad, result1: grad * taeda.exp2(-result1.to(grad.dtype)),
)
