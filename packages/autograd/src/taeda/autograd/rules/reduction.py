"""Derivatives of operations that make many elements one."""

from __future__ import annotations

from taeda import Tensor

from ._registry import rule


def _spread(grad: Tensor, shape: tuple[int, ...], dim: list[int] | None, keepdim: bool) -> Tensor:
    """The gradient of a reduced tensor, seen at every place that was reduced."""
    if not keepdim and dim is not None and shape:
        for d in sorted(d % len(shape) for d in dim):
            grad = grad.unsqueeze(d)
    return grad.expand(shape)


rule("sum", self=lambda grad, self_shape: grad.expand(self_shape))
rule("sum.dim_IntList", self=lambda grad, self_shape, dim, keepdim: _spread(grad, self_shape, dim or None, keepdim))
rule("mean", self=lambda grad, self_shape: grad.expand(self_shape) / self_shape.numel())
rule("mean.dim", self=lambda grad, self_shape, dim, keepdim: _spread(grad, self_shape, dim or None, keepdim) / max(self_shape.numel() // max(grad.numel(), 1), 1))
