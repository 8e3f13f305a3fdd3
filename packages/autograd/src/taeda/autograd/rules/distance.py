"""Derivatives of distances."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor

from ._registry import differentiated, not_differentiable, rule, rule_joint
from .reduction import _vector_norm


@rule_joint("_euclidean_dist")
def _euclidean_dist(
    grad: Tensor, needs: tuple[bool, ...], x1: Tensor, x2: Tensor, result: Tensor
) -> tuple[Tensor | None, Tensor | None]:
    """Each row is pulled along the difference, over the distance; rows that coincide are not pulled."""
    zero = result == 0
    ratio = taeda.where(zero, 0.0, grad) / taeda.where(zero, 1.0, result)
    first = x1 * ratio.sum(-1, keepdim=True) - ratio @ x2 if needs[0] else None
    second = x2 * ratio.sum(-2).unsqueeze(-1) - ratio.mT @ x1 if needs[1] else None
    return first, second


def _pull(grad: Tensor, x1: Tensor, x2: Tensor, p: float, distance: Tensor) -> Tensor:
    """The gradient of x1: by the kernel where nothing is derived from it, else by differences."""
    if not differentiated():
        return taeda._row_distances_backward(grad, x1, x2, p, distance)
    grad, distance = grad.unsqueeze(-1), distance.unsqueeze(-1)
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if math.isinf(p):
        return (grad * difference.sgn() * (difference.abs() == distance)).sum(-2)
    return _vector_norm(grad, difference, difference.dtype, distance, p, (-1,), True).sum(-2)


rule(
    "_row_distances",
    x1=lambda grad, x1, x2, p, result: _pull(grad, x1, x2, p, result),
    x2=lambda grad, x1, x2, p, result: _pull(grad.mT, x2, x1, p, result.mT),
)
not_differentiable("_row_distances_backward", "where it is derived, differences take its place")
