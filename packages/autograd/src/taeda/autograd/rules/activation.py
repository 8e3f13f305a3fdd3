"""Derivatives of activation functions.

Each has its gradient in one pass, the op name_backward(grad, x), which is linear in grad: its own
rule needs the second derivative only. At kinks the derivative is that of the flat or inner side
(relu'(0) = 0).
"""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn

from ._registry import rule, rule_as_is


def _none(grad: Tensor) -> Tensor:
    return taeda.zeros_like(grad)


# ---- sigmoid and its inverse ----


def _sigmoid(grad: Tensor, result: Tensor) -> Tensor:
    if result.is_complex():
        return grad * ((1 - result) * result).conj()
    return _nn.sigmoid_backward(grad, result)


rule_as_is("sigmoid", self=_sigmoid)
rule(
    "sigmoid_backward",
    grad_output=lambda grad, output: _nn.sigmoid_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * (1 - 2 * output),
)


def _logit_second(grad: Tensor, grad_output: Tensor, self: Tensor, eps: float | None) -> Tensor:
    low, high = (0.0, 1.0) if eps is None else (eps, 1 - eps)
    inside = (self >= low) & (self <= high)
    self = taeda.where(inside, self, 0.5)  # where the slope of 1 / slope is 0
    slope = self * (1 - self)
    return grad * grad_output * (2 * self - 1) / (slope * slope)


def _logit(grad: Tensor, self: Tensor, eps: float | None) -> Tensor:
    return _nn.logit_backward(grad, self, eps)


rule_as_is("logit", self=_logit)
rule("logit_backward", grad_output=_logit, self=_logit_second)

# ---- piecewise linear: no second derivative ----


def _threshold(grad: Tensor, self: Tensor, threshold: Any) -> Tensor:
    return _nn.threshold_backward(grad, self, threshold)


def _hardtanh(grad: Tensor, self: Tensor, min_val: Any, max_val: Any) -> Tensor:
    return _nn.hardtanh_backward(grad, self, min_val, max_val)


def _hardshrink(grad: Tensor, self: Tensor, lambd: Any) -> Tensor:
    return _nn.hardshrink_backward(grad, self, lambd)


def _softshrink(grad: Tensor, self: Tensor, lambd: Any) -> Tensor:
    return _nn.softshrink_backward(grad, self, lambd)


def _leaky_relu(grad: Tensor, self: Tensor, negative_slope: Any) -> Tensor:
    return _nn.leaky_relu_backward(grad, self, negative_slope)


def _hardsigmoid(grad: Tensor, self: Tensor) -> Tensor:
    return _nn.hardsigmoid_backward(grad, self)


rule_as_is("relu", self=lambda grad, result: _nn.threshold_backward(grad, result, 0))
rule_as_is("relu6", self=lambda grad, self: _nn.hardtanh_backward(grad, self, 0, 6))
for _name, _formula in {
    "threshold": _threshold,
    "hardtanh": _hardtanh,
    "hardshrink": _hardshrink,
    "softshrink": _softshrink,
    "leaky_relu": _leaky_relu,
    "hardsigmoid": _hardsigmoid,
}.items():
    rule_as_is(_name, self=_formula)
    rule_as_is(f"{_name}_backward", grad_output=_formula, self=_none)

rule(
    "_prelu_kernel",
    self=lambda grad, self, weight: taeda.where(self > 0, grad, grad * weight),
    weight=lambda grad, self: taeda.where(self > 0, 0.0, grad * self),
)


def _hardswish(grad: Tensor, self: Tensor) -> Tensor:
    return _nn.hardswish_backward(grad, self)


def _hardswish_second(grad: Tensor, grad_output: Tensor, self: Tensor) -> Tensor:
    return taeda.where(self.abs() < 3, grad * grad_output / 3, 0.0)


rule_as_is("hardswish", self=_hardswish)
rule("hardswish_backward", grad_output=_hardswish, self=_hardswish_second)

# ---- exponential linear units ----

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848, 1.0507009873554804934


def _elu(grad: Tensor, self: Tensor, alpha: Any, scale: Any, input_scale: Any) -> Tensor:
    return _nn.elu_backward(grad, alpha, scale, input_scale, False, self)


def _elu_first(
    grad: Tensor, alpha: Any, scale: Any, input_scale: Any, is_result: bool, self_or_result: Tensor
) -> Tensor:
    return _nn.elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result)


def _elu_second(
    grad: Tensor,
    grad_output: Tensor,
    alpha: Any,
    scale: Any,
    input_scale: Any,
    is_result: bool,
    self_or_result: Tensor,
) -> Tensor:
    slope = grad * grad_output
    if not is_result:
        # a large exponential where it does not count has no derivative either; where it is 0, no scale
        # may become infinite before it
        left = taeda.where(self_or_result < 0, self_or_result * input_scale, 0.0)
        slope = slope * left.exp() * (input_scale * alpha * scale)
    return taeda.where(self_or_result < 0, slope * input_scale, 0.0)


rule_as_is("elu", self=_elu)
rule_as_is("selu", self=lambda grad, self: _elu(grad, self, _SELU_ALPHA, _SELU_SCALE, 1))
rule_as_is("celu", self=lambda grad, self, alpha: _elu(grad, self, alpha, 1, 1 / alpha))
rule("elu_backward", grad_output=_elu_first, self_or_result=_elu_second)

# ---- gelu ----

_GELU_A, _GELU_B = 2 * math.sqrt(2 / math.pi), 0.044715  # x sigmoid(a (x + b x^3))


def _gelu(grad: Tensor, self: Tensor, approximate: str) -> Tensor:
    return _nn.gelu_backward(grad, self, approximate=approximate)


def sigmoid_slope(x: Tensor) -> Tensor:
    """s·(1 - s) with all its digits where s is rounded beside 1."""
    return x.sigmoid() * (-x).sigmoid()


def _gelu_second(grad: Tensor, grad_output: Tensor, self: Tensor, approximate: str) -> Tensor:
    x, weight = self.clamp(-40, 40), grad * grad_output  # beyond, all is 0
    if approximate == "none":
        return weight * (2 - x * x) * (x * x * -0.5).exp() / math.sqrt(2 * math.pi)
    s = (_GELU_A * (x + _GELU_B * x**3)).sigmoid()
    inner = _GELU_A * (1 + 3 * _GELU_B * x * x)
    slope = sigmoid_slope(_GELU_A * (x + _GELU_B * x**3))
    bend = slope * (1 - 2 * s) * inner * inner + slope * (6 * _GELU_A * _GELU_B) * x
    return weight * (2 * slope * inner + x * bend)


rule_as_is("gelu", self=_gelu)
rule("gelu_backward", grad_output=_gelu, self=_gelu_second)

# ---- silu and mish ----


def _silu(grad: Tensor, self: Tensor) -> Tensor:
    if not self.is_complex():
        return _nn.silu_backward(grad, self)
    s = self.sigmoid()
    return grad * (s * (1 + self * (-self).sigmoid())).conj()


def _silu_second(grad: Tensor, grad_output: Tensor, self: Tensor) -> Tensor:
    s = self.sigmoid()
    return grad * grad_output * sigmoid_slope(self) * (2 + self * (1 - 2 * s))


def _mish(grad: Tensor, self: Tensor) -> Tensor:
    return _nn.mish_backward(grad, self)


def _mish_second(grad: Tensor, grad_output: Tensor, self: Tensor) -> Tensor:
    plus, s = _nn.softplus(self), self.sigmoid()
    t = plus.tanh()
    first = 4 * sigmoid_slope(2 * plus) * s  # 1 - t² with all its digits
    second = first * (-self).sigmoid() - 2 * t * first * s
    return grad * grad_output * (2 * first + self * second)


rule_as_is("silu", self=_silu)
rule("silu_backward", grad_output=_silu, self=_silu_second)
rule_as_is("mish", self=_mish)
rule("mish_backward", grad_output=_mish, self=_mish_second)

# ---- softplus and log_sigmoid ----


def _log_sigmoid(grad: Tensor, self: Tensor) -> Tensor:
    return _nn.log_sigmoid_backward(grad, self)


def _log_sigmoid_second(grad: Tensor, grad_output: Tensor, self: Tensor) -> Tensor:
    return -grad * grad_output * sigmoid_slope(self)


def _softplus(grad: Tensor, self: Tensor, beta: Any, threshold: Any) -> Tensor:
    return _nn.softplus_backward(grad, self, beta, threshold)


def _softplus_second(
    grad: Tensor, grad_output: Tensor, self: Tensor, beta: Any, threshold: Any
) -> Tensor:
    slope = grad * grad_output * (beta * sigmoid_slope(self * beta))
    return taeda.where(self * beta > threshold, 0.0, slope)


rule_as_is("log_sigmoid", self=_log_sigmoid)
rule("log_sigmoid_backward", grad_output=_log_sigmoid, self=_log_sigmoid_second)
rule_as_is("softplus", self=_softplus)
rule("softplus_backward", grad_output=_softplus, self=_softplus_second)
