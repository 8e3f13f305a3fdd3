"""Histograms on a CUDA device by the device's own rows: cells by elementwise formulas, those of the
processor's loops, and their counts by `bincount`. So the bits are the processor's.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["ROWS"]


def _computed(x: Tensor) -> Tensor:
    return x if x.dtype == taeda.float64 else x.float()


def _number(value: float, like: Tensor) -> Tensor:
    """On the cpu, whatever the default device is: it goes with any device."""
    return taeda.tensor(float(value), dtype=like.dtype, device="cpu")


def _range(x: Tensor, low: float, high: float) -> tuple[float, float]:
    """Waits for the device where the range is that of the values."""
    if low == high and x.numel():
        low, high = (bound.item() for bound in taeda.aminmax(x))
    if low == high:
        low, high = low - 1, high + 1
    if not (-float("inf") < low < float("inf") and -float("inf") < high < float("inf")):
        raise RuntimeError(f"histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"histc: max must be larger than min, got {high:g} and {low:g}")
    return tuple(_number(bound, x).item() for bound in (low, high))


def histc(self: Tensor, bins: int, low: float, high: float) -> Tensor:
    """An element's bin is its place in the range, times the bins, in the element's own arithmetic."""
    x = _computed(self.flatten())
    first, last = (_number(v, x) for v in _range(x, float(low), float(high)))
    inside = (x >= first) & (x <= last)
    every = _number(bins, x)
    place = taeda.where(inside, (x - first) * every / (last - first), 0.0)
    # a range so wide that the place is no number: the last bin, as on the processor
    k = taeda.where(place < every, place, every - 1).long().clamp(max=bins - 1)
    counts = taeda.bincount(taeda.where(inside, k, bins), minlength=bins + 1)
    return counts[:bins].to(self.dtype)


def histogramdd(self: Tensor, edges: list[Tensor], weight: Tensor | None) -> Tensor:
    """Sums in float64, in the order of the points. Waits for the device."""
    points = _computed(self)
    sizes = [len(edge) - 1 for edge in edges]
    cell = taeda.zeros(len(points), dtype=taeda.int64, device=points.device)
    inside = taeda.ones(len(points), dtype=taeda.bool, device=points.device)
    for d, edge in enumerate(map(_computed, edges)):
        x = points[:, d].contiguous()
        inside &= (x >= edge[0]) & (x <= edge[-1])
        at = taeda.where(x == edge[-1], sizes[d] - 1, taeda.searchsorted(edge, x, right=True) - 1)
        cell = cell * sizes[d] + at
    total = 1
    for size in sizes:
        total *= size
    weights = None if weight is None else weight.double()
    sums = taeda.bincount(taeda.where(inside, cell, total), weights, minlength=total + 1)
    return sums[:total].reshape(sizes).to(self.dtype)


ROWS = {"histc": histc, "_histogramdd": histogramdd}
