"""Sampling of images at places given by a tensor, and the places that affine maps give."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.calls import casts_to_float32
from taeda._core_api.operators import nn as _nn
from taeda._core_api.programs import get_layers

__all__ = ["affine_grid", "grid_sample"]

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")
# Combinations of taps are fetched at once for few values, where calls cost more than they do, and
# for few channels, where places and weights are most of the memory; else one by one, or what is
# fetched would leave the caches.
_FEW_VALUES, _FEW_CHANNELS = 8192, 8
_MOST_NUMBERS = 2**31  # the kernel counts places in 32 bits


def _warn_of_default() -> None:
    warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
        "Please specify align_corners=True if the old behavior is desired.",
    )


# ---- places ----


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The places, for `grid_sample`, from which an affine map takes each element of an output of `size`.

    theta (N, 2, 3) with size (N, C, H, W) gives (N, H, W, 2); (N, 3, 4) likewise with a depth. Raises
    ValueError where they do not fit, NotImplementedError for another rank.
    """
    if align_corners is None:
        _warn_of_default()
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = tuple(size)
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    n = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if theta.size(0) != size[0]:
        raise RuntimeError(f"affine_grid: {theta.size(0)} matrices for a batch of {size[0]}")
    columns = []
    for axis in reversed(range(n)):  # x first
        steps = _steps(size[2 + axis], align_corners, theta)
        shape = [1] * n
        shape[axis] = -1
        columns.append(steps.reshape(shape).expand(size[2:]))
    columns.append(taeda.ones(size[2:], dtype=theta.dtype, device=theta.device))
    base = taeda.stack(columns, -1).reshape(1, -1, n + 1)
    return (base.expand(size[0], -1, -1) @ theta.transpose(1, 2)).reshape(size[0], *size[2:], n)


def _steps(count: int, align_corners: bool, like: Tensor) -> Tensor:
    """Places along one axis in [-1, 1]: of the pixels' centres, the outermost at ±1 if aligned."""
    if count <= 1:
        return taeda.zeros(count, dtype=like.dtype, device=like.device)
    edge = 1.0 if align_corners else (count - 1) / count
    return taeda.linspace(-edge, edge, count, dtype=like.dtype, device=like.device)


# ---- samples ----


@casts_to_float32
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The values of (N, C, H, W) at grid (N, H', W', 2), whose last dimension is (x, y) in [-1, 1].

    Likewise for volumes with (x, y, z). Outside lie zeros, the border's values, or reflections. Raises
    ValueError for an unknown mode, RuntimeError for shapes that do not fit.
    """
    if mode not in _MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    if align_corners is None:
        _warn_of_default()
        align_corners = False
    _check_grid(input, grid, mode)
    if _fits_kernel(input, grid):
        code, padding = _MODES.index(mode), _PADDINGS.index(padding_mode)
        return _nn._grid_sample(input, grid, code, padding, align_corners)
    n = input.dim() - 2
    size = input.shape[2:]
    at = [  # places in pixels, one tensor for each axis of the input
        _in_pixels(grid[..., n - 1 - axis], size[axis], align_corners) for axis in range(n)
    ]
    sampler = _Sampler(input, padding_mode, align_corners)
    return getattr(sampler, mode)(at)


def _fits_kernel(input: Tensor, grid: Tensor) -> bool:
    """Whether one call computes it: plain numbers, and nothing that wants to see the steps."""
    return (
        not get_layers()
        and not (taeda.is_grad_enabled() and (input.requires_grad or grid.requires_grad))
        and (input.dtype is taeda.float32 or input.dtype is taeda.float64)
        and input.device.type == "cpu" == grid.device.type
        and input.numel() < _MOST_NUMBERS
    )


def _check_grid(input: Tensor, grid: Tensor, mode: str) -> None:
    shapes = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.dim() not in (4, 5) or input.dim() != grid.dim():
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but "
            f"got {shapes}"
        )
    if input.size(0) != grid.size(0):
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got {shapes}"
        )
    if grid.size(-1) != input.dim() - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.dim() - 2} in last dimension, but "
            "got grid with "
            f"sizes {list(grid.shape)}"
        )
    if input.dtype != grid.dtype:
        raise RuntimeError(
            "grid_sampler(): expected input and grid to have same dtype, but input has "
            f"{input.dtype} and grid has {grid.dtype}"
        )
    if 0 in input.shape[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but got {shapes}"
        )
    if mode == "bicubic" and input.dim() != 4:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


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
            x = (x - low).abs()
            turns = (x / span).floor()
            rest = x - turns * span
            x = taeda.where(turns % 2 == 0, rest + low, high - rest)
        return x.clamp(0, size - 1)

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
