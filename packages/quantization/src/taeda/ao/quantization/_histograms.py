"""Histograms of numbers: brought to a wider range, and the part of a range that loses least when quantized.

The error of a range is the squared distance between numbers spread evenly over each bin and the middles of
the steps that they fall into. The search narrows the range from the side that loses fewer numbers, as
long as the error falls (norm minimization of Caffe2's quantization).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import taeda
from taeda import Tensor

__all__ = ["best_range", "rescaled"]

_FINER = 16  # parts of a bin that move on their own
_STEP = 1e-5  # share of the numbers by which an end moves


def rescaled(histogram: Tensor, old: tuple[Tensor, Tensor], new: tuple[Tensor, Tensor]) -> Tensor:
    """A histogram of the range `old` over the wider range `new`, with as many bins."""
    bins = histogram.numel()
    if bool(old[0] == old[1]):
        return taeda.histc(old[0], bins, min=new[0].item(), max=new[1].item()) * histogram.sum()
    parts = histogram.repeat_interleave(_FINER) / _FINER
    width = (old[1] - old[0]) / (bins * _FINER)
    middles = taeda.linspace(old[0], old[1], bins * _FINER + 1)[:-1] + 0.5 * width
    ends = taeda.linspace(new[0], new[1], bins + 1)
    places = (taeda.bucketize(middles, ends, right=True) - 1).clamp(0, bins - 1)
    return taeda.bincount(places, weights=parts, minlength=bins)


def _cubes(begin: Tensor, end: Tensor, density: Tensor) -> Tensor:
    """The integral of density times the squared distance, from `begin` to `end`."""
    return density * ((end * end * end - begin * begin * begin) / 3)


def _error(histogram: Tensor, span: float, first: int, last: int, steps: int) -> float:
    """What is lost if the bins from `first` to `last` get all steps."""
    bins = histogram.numel()
    width = span / bins
    step = width * (last - first + 1) / steps
    if step == 0.0:
        return 0.0
    begin = (taeda.arange(bins) - first) * width
    end = begin + width
    place_of_begin = taeda.div(begin, step, rounding_mode="floor").clamp(0, steps - 1)
    place_of_end = taeda.div(end, step, rounding_mode="floor").clamp(0, steps - 1)
    density = histogram / width
    half = taeda.ones(bins) * (step / 2)
    loss = taeda.zeros(bins) + _cubes(begin - (place_of_begin + 0.5) * step, half, density)
    whole = _cubes(taeda.tensor(-step / 2), taeda.tensor(step / 2), density)
    loss += (place_of_end - place_of_begin - 1) * whole
    middle = place_of_end * step + step / 2
    loss += _cubes(taeda.tensor(-step / 2), end - middle, density)
    return float(loss.sum().item())


def best_range(histogram: Tensor, least: Tensor, most: Tensor, steps: int) -> tuple[Tensor, Tensor]:
    """The ends of the part of least to most that loses least with so many steps."""
    bins = histogram.numel()
    width = (most - least) / bins
    total = float(histogram.sum().item())
    sums = histogram.cumsum(0).tolist()
    span = most.item() - least.item()
    alpha, beta, first, last, least_error = 0.0, 1.0, 0, bins - 1, float("inf")
    while alpha < beta:
        after, before = alpha + _STEP, beta - _STEP
        left = min(max(_first_not_below(sums, after * total), first), last)
        right = max(min(_last_not_above(sums, before * total), last), first)
        if left - first > last - right:
            begin, end, alpha = left, last, after
        else:
            begin, end, beta = first, right, before
        if (begin, end) == (first, last):
            continue
        error = _error(histogram, span, begin, end, steps)
        if error > least_error:
            break
        least_error, first, last = error, begin, end
    return least + width * first, least + width * (last + 1)


def _float32(x: float) -> float:
    return float(taeda.tensor(x, dtype=taeda.float32).item())


def _first_not_below(sums: list[float], share: float) -> int:
    """The first bin up to which there are at least so many numbers, compared in float32."""
    return bisect_left(sums, _float32(share))


def _last_not_above(sums: list[float], share: float) -> int:
    """The last bin up to which there are at most so many."""
    return bisect_right(sums, _float32(share)) - 1
