"""Resampling along the spatial dimensions: every output is a weighted sum of a few neighbours.

The dimensions are resampled one after the other. For each there is a table of neighbours, (outputs,
taps), and one of weights; what a mode means is how these two are made.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from . import pooling

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "lanczos": 4, "trilinear": 5}
_ALIGNABLE = ("linear", "bilinear", "bicubic", "trilinear")
_ANTIALIASED = ("bilinear", "bicubic", "lanczos")


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize (N, C, ...) to `size`, or by `scale_factor`.

    Modes: "nearest", "nearest-exact", "area", "linear" (3-D), "bilinear", "bicubic" and "lanczos" (4-D),
    "trilinear" (5-D). Raises ValueError for options that exclude one another, NotImplementedError for a
    mode that does not know the rank, RuntimeError for empty sizes.
    """
    _check_mode(input, mode, align_corners, antialias)
    spatial = list(input.shape[2:])
    wanted, scales = _wanted_size(spatial, size, scale_factor, recompute_scale_factor)
    _check_sizes(input, wanted)
    if mode == "area":
        return getattr(pooling, f"adaptive_avg_pool{len(spatial)}d")(input, wanted)
    return _resample_all(input, wanted, scales, mode, bool(align_corners), antialias)


def _check_mode(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    if align_corners is not None and mode not in _ALIGNABLE and mode != "lanczos":
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if antialias and not (mode in _ANTIALIASED and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    known = mode in _RANKS or mode in ("nearest", "nearest-exact", "area")
    if not known or input.dim() not in (3, 4, 5):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | "
            f"area | nearest-exact (got {mode})"
        )
    if mode in _RANKS and input.dim() != _RANKS[mode]:
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs {_RANKS[mode]}D input"
        )


def _wanted_size(
    spatial: list[int], size: Any, factor: Any, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    """Output sizes, and the scale factors that count instead of the ratio of the sizes."""
    if size is not None and factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and factor is None:
        raise ValueError("either size or scale_factor should be defined")
    name, given = ("output size", size) if size is not None else ("scale_factor", factor)
    if not isinstance(given, Sequence):
        given = [given] * len(spatial)
    if len(given) != len(spatial):
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {spatial} and {name} of {tuple(given)}: give (N, C, d1, ..., dK) and K numbers"
        )
    none: list[float | None] = [None] * len(spatial)
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        if not all(isinstance(n, int) for n in given):
            raise TypeError(f"interpolate(): sizes are integers, got {tuple(given)}")
        return list(given), none
    sizes = [math.floor(n * float(f)) for n, f in zip(spatial, given, strict=True)]
    return sizes, none if recompute else [float(f) for f in given]


def _check_sizes(input: Tensor, wanted: list[int]) -> None:
    spatial = list(input.shape[2:])
    if min([*spatial, *wanted]) <= 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {spatial} output {wanted}"
        )
    if input.size(1) == 0:
        raise RuntimeError(
            f"Non-empty {input.dim()}D data tensor expected but got a tensor with sizes {list(input.shape)}"
        )


def _resample_all(
    input: Tensor,
    wanted: list[int],
    scales: list[float | None],
    mode: str,
    align: bool,
    antialias: bool,
) -> Tensor:
    if mode in ("nearest", "nearest-exact"):
        result = input
        for i, (size, scale) in enumerate(zip(wanted, scales, strict=True)):
            place = _nearest(input.size(2 + i), size, scale, mode == "nearest-exact", input.device)
            result = result.index_select(2 + i, place)
        return result
    if not (input.is_floating_point() or input.dtype == taeda.uint8):
        raise NotImplementedError(f"interpolate(mode={mode!r}) is not implemented for {input.dtype}")
    work = taeda.float64 if input.dtype == taeda.float64 else taeda.float32
    result = input.to(work)
    for i in reversed(range(len(wanted))):
        given = (input.size(2 + i), wanted[i], scales[i], align)
        table = _window_table(*given, mode) if antialias else _taps(*given, mode)
        result = _resample(result, 2 + i, *table)
        if input.dtype == taeda.uint8:
            result = result.round().clamp(0, 255)
    return result.to(input.dtype)


def _resample(x: Tensor, dim: int, places: list[list[int]], weights: list[list[float]]) -> Tensor:
    """Sums over taps of weights times neighbours along one dimension."""
    index = taeda.tensor(places, device=x.device)
    factor = taeda.tensor(weights, dtype=x.dtype, device=x.device)
    shape = [1] * x.dim()
    shape[dim] = len(places)
    total = None
    for tap in range(index.size(1)):
        part = x.index_select(dim, index[:, tap]) * factor[:, tap].reshape(shape)
        total = part if total is None else total + part
    assert total is not None  # there is always a tap
    return total


def _nearest(size: int, wanted: int, scale: float | None, exact: bool, device: Any) -> Tensor:
    step = size / wanted if scale is None else 1.0 / scale
    at = taeda.arange(wanted, dtype=taeda.float32, device=device)
    if exact:
        at = at + 0.5
    return (at * step).floor().to(taeda.int64).clamp_max(size - 1)


def _step(size: int, wanted: int, scale: float | None, align: bool) -> float:
    """How far the source moves for one output."""
    if align:
        return (size - 1) / (wanted - 1) if wanted > 1 else 0.0
    return size / wanted if scale is None else 1.0 / scale


def _taps(
    size: int, wanted: int, scale: float | None, align: bool, mode: str
) -> tuple[list[list[int]], list[list[float]]]:
    """Two neighbours for the linear modes, four for the cubic one; at the borders the last one repeats."""
    step = _step(size, wanted, scale, align)
    places, weights = [], []
    for i in range(wanted):
        at = step * i if align else step * (i + 0.5) - 0.5
        if mode != "bicubic":
            at = max(at, 0.0)
        base = math.floor(at)
        part = at - base
        if mode == "bicubic":
            factors = [_cubic(part + 1), _cubic(part), _cubic(1 - part), _cubic(2 - part)]
            near = [base - 1, base, base + 1, base + 2]
        else:
            factors, near = [1 - part, part], [base, base + 1]
        places.append([min(max(n, 0), size - 1) for n in near])
        weights.append(factors)
    return places, weights


def _cubic(x: float, a: float = -0.75) -> float:
    """The cubic convolution kernel with slope `a` at 1."""
    x = abs(x)
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def _triangle(x: float) -> float:
    return max(0.0, 1 - abs(x))


def _lanczos(x: float) -> float:
    """sinc(x) · sinc(x / 3) within ±3."""
    if x == 0:
        return 1.0
    if abs(x) >= 3:
        return 0.0
    angle = math.pi * x
    return 3 * math.sin(angle) * math.sin(angle / 3) / (angle * angle)


_FILTERS = {
    "bilinear": (_triangle, 2),
    "bicubic": (lambda x: _cubic(x, -0.5), 4),
    "lanczos": (_lanczos, 6),
}


def _window_table(
    size: int, wanted: int, scale: float | None, align: bool, mode: str
) -> tuple[list[list[int]], list[list[float]]]:
    """All neighbours within the filter's support, which grows when the image shrinks."""
    kernel, width = _FILTERS[mode]
    step = _step(size, wanted, scale, align)
    stretch = max(step, 1.0)
    support = width / 2 * stretch
    places, weights = [], []
    for i in range(wanted):
        centre = step * (i + 0.5)
        first = max(int(centre - support + 0.5), 0)
        end = min(int(centre + support + 0.5), size)
        factors = [kernel((j - centre + 0.5) / stretch) for j in range(first, end)]
        total = sum(factors) or 1.0
        places.append(list(range(first, end)))
        weights.append([f / total for f in factors])
    most = max(map(len, places))
    for near, factors in zip(places, weights, strict=True):
        missing = most - len(near)
        near.extend([near[-1] if near else 0] * missing)
        factors.extend([0.0] * missing)
    return places, weights


# ---- former names ----


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The former name of `interpolate`."""
    _warn_former("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The former name of `interpolate` with mode "nearest"."""
    _warn_former("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The former name of `interpolate` with mode "bilinear" and aligned corners."""
    _warn_former("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _warn_former(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )
