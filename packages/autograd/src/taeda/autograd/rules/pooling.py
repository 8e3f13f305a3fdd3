"""Derivatives of pooling, and of the gradients of pooling."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor

from ._registry import rule

_nn = taeda._C._nn
Shape = tuple[int, ...]


def _to_places(grad: Tensor, indices: Tensor, shape: Shape, n: int) -> Tensor:
    """Each gradient at its place in a plane of the last n dimensions of `shape`; where several meet they add up."""
    lead = tuple(shape[: len(shape) - n])
    planes = grad.new_zeros((*lead, math.prod(shape[len(shape) - n :])))
    return planes.scatter_add_(-1, indices.flatten(-n), grad.flatten(-n)).reshape(shape)


def _from_places(grad: Tensor, indices: Tensor, n: int) -> Tensor:
    return grad.flatten(-n).gather(-1, indices.flatten(-n)).reshape(indices.shape)


def _max_pool(n: int) -> None:
    backward = getattr(_nn, f"max_pool{n}d_backward")
    with_indices = (
        taeda.max_pool1d_with_indices if n == 1 else getattr(_nn, f"max_pool{n}d_with_indices")
    )

    def pooled(
        grad: Tensor, self: Tensor, kernel_size, stride, padding, dilation, ceil_mode
    ) -> Tensor:
        return backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode)

    def again(
        grad: Tensor, self: Tensor, kernel_size, stride, padding, dilation, ceil_mode
    ) -> Tensor:
        _, indices = with_indices(self.detach(), kernel_size, stride, padding, dilation, ceil_mode)
        return _from_places(grad, indices, n)

    rule(f"max_pool{n}d", self=pooled)
    rule(f"max_pool{n}d_backward", grad_output=again)
    for name in (f"max_pool{n}d_with_indices", f"adaptive_max_pool{n}d"):
        rule(name, differentiable_results=1,
             self=lambda grad, result1, self_shape: _to_places(grad, result1, self_shape, n))  # fmt: skip


def _avg_pool(n: int) -> None:
    backward = getattr(_nn, f"avg_pool{n}d_backward")
    forward = taeda.avg_pool1d if n == 1 else getattr(_nn, f"avg_pool{n}d")
    if n == 1:
        rule("avg_pool1d", self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad:
             backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad))  # fmt: skip
        rule("avg_pool1d_backward", grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad:
             forward(grad, kernel_size, stride, padding, ceil_mode, count_include_pad))  # fmt: skip
        return
    rule(f"avg_pool{n}d", self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override:
         backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override))  # fmt: skip
    rule(f"avg_pool{n}d_backward", grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override:
         forward(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override))  # fmt: skip


def _adaptive_avg_pool(n: int) -> None:
    backward = getattr(_nn, f"adaptive_avg_pool{n}d_backward")
    forward = taeda.adaptive_avg_pool1d if n == 1 else getattr(_nn, f"adaptive_avg_pool{n}d")
    rule(f"adaptive_avg_pool{n}d", self=lambda grad, self: backward(grad, self))
    rule(
        f"adaptive_avg_pool{n}d_backward",
        grad_output=lambda grad, grad_output_shape: forward(grad, grad_output_shape[-n:]),
    )


for _n in (1, 2, 3):
    _max_pool(_n)
    _avg_pool(_n)
    _adaptive_avg_pool(_n)
