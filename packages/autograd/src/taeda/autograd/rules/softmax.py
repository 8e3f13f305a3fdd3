"""Derivatives of softmax and log_softmax. Both gradients are linear in the incoming one."""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._registry import forward, rule, rule_as_is


def _softmax(grad: Tensor, result: Tensor, dim: int) -> Tensor:
    return taeda._softmax_backward_data(grad, result, dim, result.dtype)


def _log_softmax(grad: Tensor, result: Tensor, dim: int) -> Tensor:
    return taeda._log_softmax_backward_data(grad, result, dim, result.dtype)


for _name in ("softmax.int", "_softmax"):
    rule_as_is(_name, self=_softmax)
for _name in ("log_softmax.int", "_log_softmax"):
    rule_as_is(_name, self=_log_softmax)


def _total(x: Tensor, dim: int) -> Tensor:
    return x.sum(dim, True) if x.dim() else x


def _softmax_again(grad: Tensor, grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    """d/d output of (g - sum of g·y)·y."""
    inner = _total(grad_output * output, dim)
    return grad * (grad_output - inner) - grad_output * _total(grad * output, dim)


rule(
    "_softmax_backward_data",
    grad_output=lambda grad, output, dim: taeda._softmax_backward_data(
        grad, output, dim, output.dtype
    ),
    output=_softmax_again,
)
rule(
    "_log_softmax_backward_data",
    grad_output=lambda grad, output, dim: grad - _total(grad * output.exp(), dim),
    output=lambda grad, grad_output, output, dim: -output.exp() * grad * _total(grad_output, dim),
)

# ---- tangents: the matrix of softmax is symmetric ----


def _log_softmax_forward(self_t: Tensor, result: Tensor, dim: int) -> Tensor:
    return self_t - _total(self_t * result.exp(), dim)


for _name in ("softmax.int", "_softmax"):
    forward(_name, lambda self_t, result, dim: _softmax(self_t.to(result.dtype), result, dim))
for _name in ("log_softmax.int", "_log_softmax"):
    forward(
        _name,
        lambda self_t, result, dim: _log_softmax_forward(self_t.to(result.dtype), result, dim),
    )
