"""Derivatives of distances."""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._registry import rule_joint


@rule_joint("_euclidean_dist")
def _euclidean_dist(
    grad: Tensor, needs: tuple[bool, ...], x1: Tensor, x2: Tensor, result: Tensor
) -> tuple[Tensor | None, Tensor | None]:
    """Each row is pulled along the difference, over the distance; rows that coincide are not pulled."""
    ratio = taeda.where(result == 0, 0.0, grad / result)
    first = x1 * ratio.sum(-1, keepdim=True) - ratio @ x2 if needs[0] else None
    second = x2 * ratio.sum(-2).unsqueeze(-1) - ratio.mT @ x1 if needs[1] else None
    return first, second
