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


# ---- segments of rows ----


def _totals(x: Tensor, edges: Tensor) -> Tensor:
    """For each element the sum of its segment."""
    segments = taeda.arange(edges.numel() - 1, device=x.device)
    number = segments.repeat_interleave(edges.diff())
    sums = x.new_zeros((x.shape[0], segments.numel())).index_add(1, number, x)
    return sums.index_select(1, number)


def _segments(grad: Tensor, result: Tensor, edges: Tensor, is_log: bool) -> Tensor:
    return taeda._segment_softmax_backward(grad, result, edges, is_log)


def _segments_again(
    grad: Tensor, grad_output: Tensor, output: Tensor, edges: Tensor, is_log: bool
) -> Tensor:
    """With respect to the result; as `_softmax_again`."""
    if is_log:
        return -output.exp() * grad * _totals(grad_output, edges)
    inner = _totals(grad_output * output, edges)
    return grad * (grad_output - inner) - grad_output * _totals(grad * output, edges)


def _segments_turned(grad: Tensor, output: Tensor, edges: Tensor, is_log: bool) -> Tensor:
    """The matrix of the gradient, transposed: that of softmax is symmetric."""
    if is_log:
        return grad - _totals(grad * output.exp(), edges)
    return taeda._segment_softmax_backward(grad, output, edges, is_log)


rule_as_is("_segment_softmax", self=_segments)
rule("_segment_softmax_backward", grad_output=_segments_turned, output=_segments_again)
forward(
    "_segment_softmax",
    lambda self_t, result, edges, is_log: _segments_turned(self_t, result, edges, is_log),
)
