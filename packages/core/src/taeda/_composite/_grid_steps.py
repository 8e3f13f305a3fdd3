"""grid_sample in steps that have rules: for what its kernel does not take, and for gradients that
are themselves differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor

__all__ = ["PADDINGS", "SAMPLE_MODES", "grid_sample_by_steps"]

SAMPLE_MODES = ("bilinear", "nearest", "bicubic")  # in the order of their numbers
PADDINGS = ("zeros", "border", "reflection")
# Combinations of taps are fetched at once for few values, where calls cost more than they do, and
# for few channels, where places and weights are most of the memory; else one by one, or what is
# fetched would leave the caches.
_FEW_VALUES, _FEW_CHANNELS = 8192, 8


def grid_sample_by_steps(
    input: Tensor, grid: Tensor, mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`_grid_sample(input, grid, mode, padding_mode, align_corners)` in other operations."""
    n = input.dim() - 2
    size = input.shape[2:]
    at = [  # places in pixels, one tensor for each axis of the input
        _in_pixels(grid[..., n - 1 - axis], size[axis], align_corners) for axis in range(n)
    ]
    sampler = _Sampler(input, PADDINGS[padding_mode], align_corners)
    values: Tensor = getattr(sampler, SAMPLE_MODES[mode])(at)
    return values


def _in_pixels(x: Tensor, size: int, align_corners: bool) -> Tensor:
    if align_corners:
        return (x + 1) * ((size - 1) / 2)
    return ((x + 1) * size - 1) / 2


class _Sampler:
    """Values of one input at places in pixels; knows what lies outside."""

    def __init__(self, input: Tensor, padding_mode: str, align_corners: bool) -> None:
        self.input, self.padding, self.align = input, padding_mode, align_corners
        self.size = input.shape[2:]
        self.flat = input.flatten(2)

    def _inside(self, x: Tensor, axis: int) -> Tensor:
        """The place inside that stands for `x`, unless zeros lie outside."""
        if self.padding == "zeros":
            return x
        size = self.size[axis]
        if self.padding == "reflection":
            low, high = (0.0, size - 1.0) if self.align else (-0.5, size - 0.5)
            span = high - low
            if span == 0:
                return x * 0
            far = x - low
            far = taeda.where(far >= 0, far, -far)  # abs, but with a slope of 1 at 0
            turns = (far / span).detach().floor()
            rest = far - turns * span
            x = taeda.where(turns % 2 == 0, rest + low, high - rest)
        moves = (x > 0) & (x < size - 1)  # the border does not move with x
        return taeda.where(moves, x, x.detach().clamp(0, size - 1))

    def _taps(self, x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
        """Whole places along one axis as indices, and which of them lie inside."""
        last = self.size[axis] - 1
        inside = (x >= 0) & (x <= last)
        return taeda.where(inside, x, 0).to(taeda.int64), inside

    def _fetch(self, index: Tensor) -> Tensor:
        """The values at flat places (N, M), as (N, C, M)."""
        return self.flat.gather(2, index.unsqueeze(1).expand(-1, self.input.size(1), -1))

    def _tap(self, index: Tensor, within: Tensor, i: int) -> Tensor:
        """The values at the i-th of several places, 0 where it lies outside."""
        return taeda.where(within.select(2, i), self._fetch(index.select(1, i)), 0)

    def _sum(self, taps: Sequence[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
        """The weighted sum of every combination of taps, (N, C, *places).

        For each axis come indices, weights, and which taps lie inside, (N, taps, *places).
        """
        n = len(taps)
        space = taps[0][0].shape[2:]
        index = weight = within = None
        for axis, (place, factor, inside) in enumerate(taps):
            shape = [place.size(0), *([1] * n), *space]
            shape[1 + axis] = place.size(1)
            place, factor, inside = (t.reshape(shape) for t in (place, factor, inside))
            index = place if index is None else index * self.size[axis] + place
            weight = factor if weight is None else weight * factor
            within = inside if within is None else within & inside
        assert index is not None and weight is not None and within is not None  # two axes at least
        index = index.flatten(1, n).flatten(2)
        weight, within = (t.flatten(1, n).flatten(2).unsqueeze(1) for t in (weight, within))
        channels = self.input.size(1)
        if channels < _FEW_CHANNELS or index.numel() * channels <= _FEW_VALUES:
            values = self._fetch(index.flatten(1)).unflatten(2, index.shape[1:])
            total = (taeda.where(within, values, 0) * weight).sum(2)
        else:
            total = self._tap(index, within, 0) * weight.select(2, 0)
            for i in range(1, index.size(1)):
                total = total.addcmul(self._tap(index, within, i), weight.select(2, i))
        return total.unflatten(2, space)

    def nearest(self, at: list[Tensor]) -> Tensor:
        places = [self._inside(x, axis) for axis, x in enumerate(at)]
        index = within = None
        for axis, x in enumerate(places):
            place, inside = self._taps(x.detach().round(), axis)
            index = place if index is None else index * self.size[axis] + place
            within = inside if within is None else within & inside
        assert index is not None and within is not None  # there are two axes at least
        values = self._fetch(index.flatten(1)).unflatten(2, index.shape[1:])
        values = taeda.where(within.unsqueeze(1), values, 0)
        if not any(x.requires_grad for x in places):
            return values
        for x in places:  # the derivative by the grid is 0, and may itself be differentiated
            values = values + (taeda.where(x.isfinite(), x, 0) * 0).unsqueeze(1)
        return values

    def bilinear(self, at: list[Tensor]) -> Tensor:
        taps = []
        for axis, x in enumerate(at):
            x = self._inside(x, axis)
            low = x.detach().floor()
            part = x - low
            index, inside = self._taps(taeda.stack((low, low + 1), 1), axis)
            taps.append((index, taeda.stack((1 - part, part), 1), inside))
        return self._sum(taps)

    def bicubic(self, at: list[Tensor]) -> Tensor:
        low = [x.detach().floor() for x in at]
        taps = []
        for axis, (place, base) in enumerate(zip(at, low, strict=True)):
            around = taeda.stack([self._inside(base + (i - 1), axis).round() for i in range(4)], 1)
            index, inside = self._taps(around, axis)
            taps.append((index, taeda.stack(_cubic_weights(place - base), 1), inside))
        rows, columns = taps
        total: Tensor | None = None
        for i in range(4):  # a row of four at a time: sixteen together would be much memory
            row = rows[0].narrow(1, i, 1), rows[1].narrow(1, i, 1), rows[2].narrow(1, i, 1)
            value = self._sum([row, columns])
            total = value if total is None else total + value
        assert total is not None  # there are four rows
        return total


def _cubic_weights(t: Tensor) -> list[Tensor]:
    """Weights of the four neighbours for a part t of the way from the second to the third."""
    a = -0.75

    def near(x: Tensor) -> Tensor:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Tensor) -> Tensor:
        return (((x - 5) * x + 8) * x - 4) * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]
