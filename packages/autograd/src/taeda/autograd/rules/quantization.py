"""Derivatives of products with packed weights: integers stay, everything of float has a gradient.

The vector's rounding to 16 bits counts as none, so gradients are those of the product with the
weight in float32.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._registry import not_differentiable, rule

Shape = tuple[int, ...]


def _of_groups(grad: Tensor, shape: Shape) -> Tensor:
    """Sums over the numbers that share a scale."""
    return grad.reshape(*shape, -1).sum(-1)


def _of_matrix(grad: Tensor, x: Tensor) -> Tensor:
    """The gradient of the matrix (n, k) in x @ matrix.T."""
    n, k = grad.shape[-1], x.shape[-1]
    return grad.reshape(-1, n).t().mm(x.reshape(-1, k).to(grad.dtype))


def _of_bias(grad: Tensor) -> Tensor:
    return grad.reshape(-1, grad.shape[-1]).sum(0)


def _bytes_scales(grad: Tensor, weight: Tensor, scales_shape: Shape) -> Tensor:
    return _of_groups(grad * weight, scales_shape)


def _ones(shape: Shape, like: Tensor) -> Tensor:
    return taeda.ones(shape, dtype=taeda.float32, device=like.device)


def _nibbles_scales(grad: Tensor, weight: Tensor, scales_shape: Shape, shifted: bool) -> Tensor:
    """shifted: there are no offsets, so a scale multiplies q - 8."""
    ones = _ones(scales_shape, weight)
    zero = None if shifted else taeda.zeros_like(ones)
    q = taeda._weight_int4_expand(weight, ones, zero, grad.shape[-1])
    return _of_groups(grad * q, scales_shape)


rule(
    "_weight_int8_expand",
    scales=lambda grad, weight, scales_shape: _bytes_scales(grad, weight, scales_shape),
)
rule(
    "_weight_int4_expand",
    scales=lambda grad, weight, scales_shape, offsets: _nibbles_scales(
        grad, weight, scales_shape, offsets is None
    ),
    offsets=lambda grad, offsets_shape: _of_groups(grad, offsets_shape),
)
rule(
    "_weight_int8_mm",
    self=lambda grad, weight, scales: grad.matmul(
        taeda._weight_int8_expand(weight, scales).to(grad.dtype)
    ),
    scales=lambda grad, self, weight, scales_shape: _bytes_scales(
        _of_matrix(grad, self), weight, scales_shape
    ),
    bias=lambda grad: _of_bias(grad),
)
rule(
    "_weight_int4_mm",
    self=lambda grad, weight, scales, offsets, self_shape: grad.matmul(
        taeda._weight_int4_expand(weight, scales, offsets, self_shape[-1]).to(grad.dtype)
    ),
    scales=lambda grad, self, weight, scales_shape, offsets: _nibbles_scales(
        _of_matrix(grad, self), weight, scales_shape, offsets is None
    ),
    offsets=lambda grad, self, offsets_shape: _of_groups(_of_matrix(grad, self), offsets_shape),
    bias=lambda grad: _of_bias(grad),
)

for _row in (
    "_quantize_int8", "_dequantize_int8", "_int8_pack", "_int8_linear", "_int8_linear_dynamic", "_int8_conv",
    "_int8_pool", "_int8_bags",
):  # fmt: skip
    not_differentiable(_row, "numbers are rounded to integers, which have no gradients")
