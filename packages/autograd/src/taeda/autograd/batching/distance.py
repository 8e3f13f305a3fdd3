"""Distances: samples are one more batch dimension."""

from __future__ import annotations

from typing import Any

from ._batched import Level
from ._registry import rule

__all__: list[str] = []


@rule("_row_distances")
def _row_distances(level: Level, func: Any, x1: Any, x2: Any, p: float) -> Any:
    return func(level.full(x1), level.full(x2), p)


@rule("_row_distances_backward")
def _row_distances_backward(
    level: Level, func: Any, grad: Any, x1: Any, x2: Any, p: float, distance: Any
) -> Any:
    whole = (level.full(x) for x in (grad, x1, x2))
    return func(*whole, p, level.full(distance))
