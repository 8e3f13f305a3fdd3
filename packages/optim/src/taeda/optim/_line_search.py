"""A line search for the strong Wolfe conditions: enough decrease, and a slope that is small enough.

After Nocedal and Wright, Numerical Optimization, section 3.5: first find an interval that must hold
such a point, then shrink it, with cubic interpolation and guards against slow progress.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from taeda import Tensor

__all__ = ["Point", "strong_wolfe"]

DECREASE, CURVATURE = 1e-4, 0.9
MOST_EVALUATIONS = 25
LEAST_INTERVAL = 1e-9


@dataclass(frozen=True)
class Point:
    """Where the search has been: a step length, the loss, the gradient and the slope there."""

    length: Any
    loss: float
    gradient: Tensor
    slope: Tensor


class _Search:
    def __init__(
        self, evaluate: Callable[[Any], tuple[float, Tensor]], direction: Tensor, start: Point
    ) -> None:
        self.evaluate, self.direction, self.start = evaluate, direction, start
        self.evaluations = 0

    def at(self, length: Any) -> Point:
        self.evaluations += 1
        loss, gradient = self.evaluate(length)
        return Point(length, loss, gradient, gradient.dot(self.direction))

    def too_high(self, point: Point) -> bool:
        start = self.start
        return bool(point.loss > start.loss + DECREASE * point.length * start.slope)

    def is_flat(self, point: Point) -> bool:
        return bool(abs(point.slope) <= -CURVATURE * self.start.slope)

    def bracket(self, length: Any) -> tuple[list[Point], int]:
        """One point that will do, or two with such a one between; and the number of trials."""
        previous, point = self.start, self.at(length)
        for trial in range(MOST_EVALUATIONS):
            if self.too_high(point) or (trial > 1 and point.loss >= previous.loss):
                return [previous, point], trial
            if self.is_flat(point):
                return [point], trial
            if point.slope >= 0:
                return [previous, point], trial
            nearest = point.length + 0.01 * (point.length - previous.length)
            longer = _minimum_of_cubic(previous, point, (nearest, point.length * 10))
            previous, point = point, self.at(longer)
        return [self.start, point], MOST_EVALUATIONS

    def zoom(self, ends: list[Point], trial: int) -> Point:
        """The best point found between two, of which the lower one comes first in value."""
        low, high = _by_loss(ends)
        size = self.direction.abs().max()
        slow = False
        while trial < MOST_EVALUATIONS:
            if abs(ends[1].length - ends[0].length) * size < LEAST_INTERVAL:
                break
            length, slow = _inside(_minimum_of_cubic(ends[0], ends[1]), ends, slow)
            point = self.at(length)
            trial += 1
            if self.too_high(point) or point.loss >= ends[low].loss:
                ends[high] = point
                low, high = _by_loss(ends)
                continue
            if self.is_flat(point):
                return point
            if point.slope * (ends[high].length - ends[low].length) >= 0:
                ends[high] = ends[low]
            ends[low] = point
        return ends[low]


def _by_loss(ends: list[Point]) -> tuple[int, int]:
    """Which of two points is the lower one, and which the higher."""
    return (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)


def _inside(length: Any, ends: list[Point], slow: bool) -> tuple[Any, bool]:
    """A length not too near the ends of the interval; whether it was near and was let pass.

    It is let pass once: the second time, and when it lies outside, it is moved a tenth inwards.
    """
    least, most = sorted(point.length for point in ends)
    margin = 0.1 * (most - least)
    if min(most - length, length - least) >= margin:
        return length, False
    if not slow and least < length < most:
        return length, True
    return (most - margin if abs(length - most) < abs(length - least) else least + margin), False


def _minimum_of_cubic(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """Where the cubic through two points with their slopes is least, kept within bounds."""
    least, most = bounds or sorted((a.length, b.length))
    if a.length > b.length:
        a, b = b, a
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length)
    square = bend**2 - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2.0
    root = math.sqrt(square)
    share = (b.slope + root - bend) / (b.slope - a.slope + 2 * root)
    return min(max(b.length - (b.length - a.length) * share, least), most)


def strong_wolfe(
    evaluate: Callable[[Any], tuple[float, Tensor]],
    direction: Tensor,
    length: Any,
    loss: float,
    gradient: Tensor,
    slope: Tensor,
) -> tuple[Point, int]:
    """The point found, and how often `evaluate(length)`, which gives loss and gradient, was called.

    `length` is tried first; `loss`, `gradient` and `slope` are those at length 0.
    """
    search = _Search(evaluate, direction, Point(0, loss, gradient, slope))
    ends, trial = search.bracket(length)
    found = ends[0] if len(ends) == 1 else search.zoom(ends, trial)
    return found, search.evaluations
