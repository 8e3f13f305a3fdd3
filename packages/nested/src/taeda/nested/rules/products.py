"""Products and normalisations."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .._graph import built, compact, components
from .._parts import is_nested
from ._registry import rule


@rule("linear")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    if not is_nested(x) or is_nested(weight) or is_nested(bias):
        return NotImplemented
    parts, values = compact(x)
    if parts.ragged == values.dim():
        return NotImplemented
    return built(parts, taeda.ops.aten.linear.default(values, weight, bias))


@rule("matmul", "bmm")
def matmul(x: Tensor, y: Tensor) -> Any:
    """Packed values times a matrix; with batches on both sides, one product after the other."""
    if not is_nested(x) or (not is_nested(y) and y.dim() < 2):
        return NotImplemented
    parts, values = compact(x)
    rank = x.dim()
    if not is_nested(y):
        if y.dim() == 2 and parts.ragged != rank - 1 and rank > 2:
            return built(parts, taeda.matmul(values, y))
        if y.dim() != rank or y.shape[0] != len(parts.bounds) or parts.ragged == rank - 1:
            return NotImplemented
        others = list(y.unbind(0))
    else:
        if y.dim() != rank or len(components(y)) != len(parts.bounds):
            return NotImplemented
        others = components(y)
    if rank < 3 or not parts.bounds:
        return NotImplemented
    results = [a @ b for a, b in zip(parts.of(values), others, strict=True)]
    own = parts.ragged if parts.ragged != rank - 1 else None
    other = None
    if is_nested(y):
        second = compact(y)[0]
        if (parts.ragged == rank - 1) != (second.ragged == rank - 2):
            return NotImplemented
        other = second.ragged if second.ragged != rank - 2 else None
        both = own is not None and other is not None
        if both and (own != other or own == rank - 2 or second.size != parts.size):
            return NotImplemented  # two ragged dimensions, or of two kinds
    at = own if own is not None else other
    if at is None:
        return taeda.stack(results)
    if own is not None:
        return built(parts, taeda.cat(results, at - 1))
    return built(compact(y)[0], taeda.cat(results, at - 1))


@rule("layer_norm")
def layer_norm(
    x: Tensor,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    *more: Any,
) -> Any:
    if not is_nested(x):
        return NotImplemented
    parts, values = compact(x)
    if values.dim() - len(normalized_shape) < parts.ragged:
        return NotImplemented
    made = taeda.ops.aten.layer_norm.default(values, normalized_shape, weight, bias, eps)
    return built(parts, made)


@rule("rms_norm")
def rms_norm(x: Tensor, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    if not is_nested(x):
        return NotImplemented
    parts, values = compact(x)
    if values.dim() - len(normalized_shape) < parts.ragged:
        return NotImplemented
    return built(parts, taeda.ops.aten.rms_norm.default(values, normalized_shape, weight, eps))


@rule("embedding")
def embedding(weight: Tensor, indices: Tensor, *more: Any) -> Any:
    if is_nested(weight):
        return NotImplemented
    parts, values = compact(indices)
    return built(parts, taeda.ops.aten.embedding.default(weight, values, *more))
