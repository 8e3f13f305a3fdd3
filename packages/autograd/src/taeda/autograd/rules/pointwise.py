"""Derivatives of elementwise operations.

At kinks the subgradient of smallest norm is taken (relu'(0) = 0); `maximum` halves the gradient where both are equal.
Complex rules give the conjugate derivative: f(z) analytic has the rule grad * conj(f'(z)).
"""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from ._registry import not_differentiable, rule


def _cj(x: Any) -> Any:
    """The conjugate, at no cost for real values."""
    return x.conj() if isinstance(x, Tensor) and x.is_complex() else x.conjugate() if isinstance(x, complex) else x


# ---- arithmetic ----

rule("add.Tensor", self=lambda grad: grad, other=lambda grad, alpha: grad if alpha == 1 else grad * _cj(alpha))
rule("sub.Tensor", self=lambda grad: grad, other=lambda grad, alpha: -grad if alpha == 1 else grad * -_cj(alpha))
rule("rsub.Tensor", self=lambda grad, alpha: -grad if alpha == 1 else grad * -_cj(alpha), other=lambda grad: grad)
rule("mul.Tensor", self=lambda grad, other: grad * _cj(other), other=lambda grad, self: grad * _cj(self))
rule("div.Tensor", self=lambda grad, other: grad / _cj(other),
     other=lambda grad, self, other: -grad * _cj(self / other / other))  # fmt: skip


def _div_mode_self(grad: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    return grad / _cj(other) if rounding_mode is None else taeda.zeros_like(grad)


def _div_mode_other(grad: Tensor, self: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    return -grad * _cj(self / other / other) if rounding_mode is None else taeda.zeros_like(grad)


rule("div.Tensor_mode", self=_div_mode_self, other=_div_mode_other)
rule("remainder.Tensor", self=lambda grad: grad,
     other=lambda grad, self, other: -grad * self.div(other, rounding_mode="floor"))  # fmt: skip
rule("fmod.Tensor", self=lambda grad: grad,
     other=lambda grad, self, other: -grad * self.div(other, rounding_mode="trunc"))  # fmt: skip
rule("neg", self=lambda grad: -grad)
rule("positive", self=lambda grad: grad)
rule("reciprocal", self=lambda grad, result: -grad * _cj(result * result))
rule("square", self=lambda grad, self: grad * _cj(2 * self))
rule("sqrt", self=lambda grad, result: grad / _cj(2 * result))
rule("rsqrt", self=lambda grad, result: -0.5 * grad * _cj(result**3))
rule("addcmul", self=lambda grad: grad, tensor1=lambda grad, tensor2, value: grad * _cj(tensor2 * value),
     tensor2=lambda grad, tensor1, value: grad * _cj(tensor1 * value))  # fmt: skip
rule("addcdiv", self=lambda grad: grad, tensor1=lambda grad, tensor2, value: grad * _cj(value / tensor2),
     tensor2=lambda grad, tensor1, tensor2, value: -grad * _cj(value * tensor1 / (tensor2 * tensor2)))  # fmt: skip
rule("lerp.Tensor", self=lambda grad, weight: grad * _cj(1 - weight), end=lambda grad, weight: grad * _cj(weight),
     weight=lambda grad, self, end: grad * _cj(end - self))  # fmt: skip


# ---- powers ----


def _pow_base(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    if exponent.dim() == 0 and not exponent.requires_grad:  # a Python number, nearly always
        power = exponent.item()
        return taeda.zeros_like(self) if power == 0 else grad * _cj(power * self ** (power - 1))
    slope = exponent * self ** (exponent - 1)
    return grad * _cj(taeda.where(exponent == 0, taeda.zeros_like(slope), slope))


def _pow_exponent(grad: Tensor, self: Tensor, exponent: Tensor, result: Tensor) -> Tensor:
    slope = result * self.log()
    at_zero = (self == 0) & (exponent.real >= 0 if exponent.is_complex() else exponent >= 0)
    return grad * _cj(taeda.where(at_zero, taeda.zeros_like(slope), slope))


rule("pow.Tensor_Tensor", self=_pow_base, exponent=_pow_exponent)


# ---- exponentials and logarithms ----

rule("exp", self=lambda grad, result: grad * _cj(result))
rule("exp2", self=lambda grad, result: grad * _cj(result) * math.log(2))
rule("expm1", self=lambda grad, result: grad * _cj(result + 1))
rule("log", self=lambda grad, self: grad / _cj(self))
rule("log2", self=lambda grad, self: grad / _cj(self * math.log(2)))
rule("log10", self=lambda grad, self: grad / _cj(self * math.log(10)))
rule("log1p", self=lambda grad, self: grad / _cj(self + 1))


def _logaddexp(grad: Tensor, own: Tensor, result: Tensor, base: float) -> Tensor:
    """Share of `own` in the sum; where the result is infinite the larger one has it all."""
    difference = own - result
    share = (difference if base == math.e else difference * math.log(2)).exp()
    return grad * taeda.where(difference.isnan(), (own == result).to(share.dtype) * 0.5 + 0.0, share)


rule("logaddexp", self=lambda grad, self, result: _logaddexp(grad, self, result, math.e),
     other=lambda grad, other, result: _logaddexp(grad, other, result, math.e))  # fmt: skip
rule("logaddexp2", self=lambda grad, self, result: _logaddexp(grad, self, result, 2.0),
     other=lambda grad, other, result: _logaddexp(grad, other, result, 2.0))  # fmt: skip
rule("xlogy.Tensor", self=lambda grad, self, other: grad * taeda.where((self == 0) & (other <= 0), taeda.zeros_like(grad), other.log()),
     other=lambda grad, self, other: grad * self / other)  # fmt: skip
rule("logit", self=lambda grad, self, eps: _logit(grad, self, eps))


def _logit(grad: Tensor, self: Tensor, eps: float | None) -> Tensor:
    slope = grad / (self * (1 - self))
    if eps is None:
        return taeda.where((self < 0) | (self > 1), taeda.full_like(slope, math.nan), slope)
    return taeda.where((self < eps) | (self > 1 - eps), taeda.zeros_like(slope), slope)


# ---- trigonometric and hyperbolic ----

rule("sin", self=lambda grad, self: grad * _cj(self.cos()))
rule("cos", self=lambda grad, self: grad * _cj(-self.sin()))
rule("tan", self=lambda grad, result: grad * _cj(1 + result * result))
rule("sinh", self=lambda grad, self: grad * _cj(self.cosh()))
rule("cosh", self=lambda grad, self: grad * _cj(self.sinh()))
rule("tanh", self=lambda grad, result: grad * _cj(1 - result * result))
rule("asin", self=lambda grad, self: grad * _cj((1 - self * self).rsqrt()))
rule("acos", self=lambda grad, self: grad * _cj(-(1 - self * self).rsqrt()))
rule("atan", self=lambda grad, self: grad / _cj(self * self + 1))
rule("asinh", self=lambda grad, self: grad * _cj((self * self + 1).rsqrt()))
rule("acosh", self=lambda grad, self: grad * _cj((self - 1).rsqrt() * (self + 1).rsqrt()))
rule("atanh", self=lambda grad, self: grad / _cj(1 - self * self))
rule("atan2", self=lambda grad, self, other: grad * other / (self * self + other * other),
     other=lambda grad, self, other: -grad * self / (self * self + other * other))  # fmt: skip
rule("hypot", self=lambda grad, self, result: grad * (self / result), other=lambda grad, other, result: grad * (other / result))
rule("deg2rad", self=lambda grad: grad * (math.pi / 180))
rule("rad2deg", self=lambda grad: grad * (180 / math.pi))

# ---- special ----

_ROOT_PI = math.sqrt(math.pi)
rule("erf", self=lambda grad, self: grad * (2 / _ROOT_PI) * (-(self * self)).exp())
rule("erfc", self=lambda grad, self: grad * (-2 / _ROOT_PI) * (-(self * self)).exp())
rule("erfinv", self=lambda grad, result: grad * (_ROOT_PI / 2) * (result * result).exp())
rule("lgamma", self=lambda grad, self: grad * self.digamma())
rule("digamma", self=lambda grad, self: grad * taeda.polygamma(1, self))

# ---- rounding, sign, pieces ----

for _name in ("floor", "ceil", "trunc", "round", "round.decimals", "sign"):
    rule(_name, self=lambda grad: taeda.zeros_like(grad))
rule("frac", self=lambda grad: grad)
rule("abs", self=lambda grad, self: grad * self.sgn())
rule("sgn", self=lambda grad, self, result: _sgn(grad, self, result))


def _sgn(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    if not self.is_complex():
        return taeda.zeros_like(grad)
    size = self.abs()
    turned = (grad - (grad.conj() * result).real * result) / size
    return taeda.where(size == 0, taeda.zeros_like(turned), turned)


rule("angle", self=lambda grad, self: _angle(grad, self))


def _angle(grad: Tensor, self: Tensor) -> Tensor:
    if not self.is_complex():
        return taeda.zeros_like(self)
    squared = self.real * self.real + self.imag * self.imag
    made = taeda.complex(-self.imag * grad / squared, self.real * grad / squared)
    return taeda.where(self == 0, taeda.zeros_like(made), made)


rule("conj_physical", self=lambda grad: grad.conj())
rule("nan_to_num", self=lambda grad, self: grad * self.isfinite())
rule("copysign.Tensor", self=lambda grad, self, result: grad * taeda.where(self == 0, taeda.zeros_like(result), result.sgn() * self.sgn()),
     other=lambda grad: taeda.zeros_like(grad))  # fmt: skip
rule("ldexp.Tensor", self=lambda grad, other: grad * 2.0**other,
     other=lambda grad, self, other: grad * self * 2.0**other * math.log(2))  # fmt: skip
not_differentiable("nextafter", "the neighbour of a number is no smooth function of it")
rule("heaviside", self=lambda grad: taeda.zeros_like(grad), values=lambda grad, self: grad * (self == 0))

# ---- choosing ----


def _inside(grad: Tensor, x: Tensor, low: Any, high: Any) -> Tensor:
    inside = True if low is None else x >= low
    if high is not None:
        inside = (x <= high) if inside is True else inside & (x <= high)
    return taeda.where(inside, grad, taeda.zeros((), dtype=grad.dtype))


def _bound(grad: Tensor, x: Tensor, low: Any, high: Any, wanted: str) -> Tensor | None:
    """The share of a bound: where it is the value (with both bounds the upper one wins)."""
    if wanted == "min":
        if low is None:
            return None
        taken = x < low if high is None else (x < low) & (low < high)
    else:
        if high is None:
            return None
        taken = x > high if low is None else (x > high) | (high < low)
    return grad * taken


rule("clamp", self=lambda grad, self, min, max: _inside(grad, self, min, max),
     min=lambda grad, self, min, max: _bound(grad, self, min, max, "min"),
     max=lambda grad, self, min, max: _bound(grad, self, min, max, "max"))  # fmt: skip
rule("clamp_min", self=lambda grad, self, min: _inside(grad, self, min, None), min=lambda grad, self, min: grad * (self < min))
rule("clamp_max", self=lambda grad, self, max: _inside(grad, self, None, max), max=lambda grad, self, max: grad * (self > max))


def _winner(grad: Tensor, own: Tensor, other: Tensor, larger: bool) -> Tensor:
    wins = own > other if larger else own < other
    return grad * wins + grad * (own == other) * 0.5


rule("maximum", self=lambda grad, self, other: _winner(grad, self, other, True), other=lambda grad, self, other: _winner(grad, other, self, True))
rule("minimum", self=lambda grad, self, other: _winner(grad, self, other, False), other=lambda grad, self, other: _winner(grad, other, self, False))
rule("fmax", self=lambda grad, self, other: grad * ((self >= other) | other.isnan()), other=lambda grad, self, other: grad * ~((self >= other) | other.isnan()))
rule("fmin", self=lambda grad, self, other: grad * ((self <= other) | other.isnan()), other=lambda grad, self, other: grad * ~((self <= other) | other.isnan()))


def _where(grad: Tensor, keep: Tensor) -> Tensor:
    return taeda.where(keep, grad, taeda.zeros((), dtype=grad.dtype))


rule("where.self", self=lambda grad, condition: _where(grad, condition), other=lambda grad, condition: _where(grad, ~condition))

# ---- activations ----

rule("relu", self=lambda grad, result: taeda.threshold_backward(grad, result, 0))
rule("threshold", self=lambda grad, self, threshold: taeda.threshold_backward(grad, self, threshold))
rule("sigmoid", self=lambda grad, result: grad * _cj((1 - result) * result))
