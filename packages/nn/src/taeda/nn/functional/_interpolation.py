"""Resampling along the spatial dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from taeda import SymInt, Tensor
from taeda._core_api import warn
from taeda._core_api.doors import call_others, exact, is_for_others, watched
from taeda._core_api.operators import nn as _nn

from . import _pooling

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "lanczos": 4, "trilinear": 5}
_ALIGNABLE = ("linear", "bilinear", "bicubic", "trilinear")
_ANTIALIASED = ("bilinear", "bicubic", "lanczos")
_OPERATIONS = {  # by mode, number of spatial dimensions, and antialiasing
    **{("nearest", n, False): f"upsample_nearest{n}d" for n in (1, 2, 3)},
    **{("nearest-exact", n, False): f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)},
    ("linear", 1, False): "upsample_linear1d",
    ("bilinear", 2, False): "upsample_bilinear2d",
    ("bicubic", 2, False): "upsample_bicubic2d",
    ("trilinear", 3, False): "upsample_trilinear3d",
    **{(mode, 2, True): f"_upsample_{mode}2d_aa" for mode in _ANTIALIASED},
}


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

    Args:
        input: images of shape (N, C, *), with one to three spatial sizes
        size: the spatial sizes of the result: an int, or one for each spatial dimension; None if
            scale_factor is given
        scale_factor: by how much the spatial sizes grow: a number, or one for each spatial
            dimension; None if size is given
        mode: 'nearest', 'nearest-exact', 'linear', 'bilinear', 'bicubic', 'trilinear' or 'area'
            (default: 'nearest')
        align_corners: whether the centres of the outermost elements lie on each other; if False
            or None, their outer edges do
        recompute_scale_factor: whether the factor is computed anew from the sizes that come
            out; needs scale_factor (default: None)
        antialias: whether a shrinking filter grows with the factor, so that nothing is left out;
            for modes 'bilinear' and 'bicubic' (default: False)

    >>> x = taeda.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> taeda.nn.functional.interpolate(x, scale_factor=2)
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.],
              [3., 3., 4., 4.],
              [3., 3., 4., 4.]]]])
    >>> taeda.nn.functional.interpolate(x, size=(3, 3), mode="bilinear", align_corners=True)
    tensor([[[[1.0000, 1.5000, 2.0000],
              [2.0000, 2.5000, 3.0000],
              [3.0000, 3.5000, 4.0000]]]])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(interpolate, (input,))
    _check_mode(input, mode, align_corners, antialias)
    spatial = list(input.shape[2:])
    wanted, scales = _wanted_size(spatial, size, scale_factor, recompute_scale_factor)
    _check_sizes(input, wanted)
    if mode == "area":
        return getattr(_pooling, f"adaptive_avg_pool{len(spatial)}d")(input, wanted)
    run = getattr(_nn, _OPERATIONS[mode, len(spatial), antialias])
    if mode in ("nearest", "nearest-exact"):
        return run(input, wanted, *scales)
    return run(input, wanted, bool(align_corners), *scales)


def _check_mode(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    if align_corners is not None and mode not in _ALIGNABLE and mode != "lanczos":
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if antialias and not (mode in _ANTIALIASED and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    known = mode in _RANKS or mode in ("nearest", "nearest-exact", "area")
    if not known or input.dim() not in (3, 4, 5):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | "
            "trilinear | lanczos | "
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
        if not all(isinstance(n, int | SymInt) for n in given):
            raise TypeError(f"interpolate(): sizes are integers, got {tuple(given)}")
        return list(given), none
    sizes = [_scaled(n, float(f)) for n, f in zip(spatial, given, strict=True)]
    return sizes, none if recompute else [float(f) for f in given]


def _scaled(size: int, factor: float) -> int:
    """`size * factor`, rounded down. A symbol stays one where the product of floats is exact."""
    if isinstance(size, SymInt) and math.isfinite(factor):
        above, below = factor.as_integer_ratio()
        if abs(above) < _EXACT and below < _EXACT:
            return size * above // below
    return math.floor(size * factor)


_EXACT = 1 << 20  # times a size, both are exact in a float


def _check_sizes(input: Tensor, wanted: list[int]) -> None:
    spatial = list(input.shape[2:])
    if any(n <= 0 for n in (*spatial, *wanted)):
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {spatial} output {wanted}"
        )
    if input.size(1) == 0:
        raise RuntimeError(
            f"Non-empty {input.dim()}D data tensor expected but got a tensor with sizes {list(input.shape)}"
        )


# ---- former names ----


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The former name of `interpolate`.

    Args:
        input: images of shape (N, C, *), with one to three spatial sizes
        size: the spatial sizes of the result: an int, or one for each spatial dimension; None if
            scale_factor is given
        scale_factor: by how much the spatial sizes grow: a number, or one for each spatial
            dimension; None if size is given
        mode: 'nearest', 'linear', 'bilinear', 'bicubic' or 'trilinear' (default: 'nearest')
        align_corners: whether the centres of the outermost elements lie on each other; if False
            or None, their outer edges do

    >>> taeda.nn.functional.upsample(taeda.rand(1, 3, 4, 5), scale_factor=2).shape
    taeda.Size([1, 3, 8, 10])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(upsample, (input,))
    _warn_former("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The former name of `interpolate` with mode "nearest".

    Args:
        input: images of shape (N, C, *), with one to three spatial sizes
        size: the spatial sizes of the result: an int, or one for each spatial dimension; None if
            scale_factor is given
        scale_factor: by how much the spatial sizes grow: a number, or one for each spatial
            dimension; None if size is given

    >>> taeda.nn.functional.upsample_nearest(taeda.tensor([[[[1.0, 2.0]]]]), scale_factor=2)
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(upsample_nearest, (input,))
    _warn_former("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The former name of `interpolate` with mode "bilinear" and aligned corners.

    Args:
        input: images of shape (N, C, *), with one to three spatial sizes
        size: the spatial sizes of the result: an int, or one for each spatial dimension; None if
            scale_factor is given
        scale_factor: by how much the spatial sizes grow: a number, or one for each spatial
            dimension; None if size is given

    >>> taeda.nn.functional.upsample_bilinear(taeda.tensor([[[[0.0, 2.0]]]]), size=(1, 3))
    tensor([[[[0., 1., 2.]]]])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(upsample_bilinear, (input,))
    _warn_former("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _warn_former(name: str) -> None:
    warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
    )
