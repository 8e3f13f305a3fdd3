"""Sampling of images at places given by a tensor, and the places that affine maps give."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.calls import casts_to_float32
from taeda._core_api.doors import asks, call_others, exact, is_for_others, require_tensors, watched
from taeda._core_api.operators import nn as _nn
from taeda._core_api.programs import TRACE, get_layers
from taeda._core_api.table import PADDINGS, SAMPLE_MODES, grid_sample_by_steps

__all__ = ["affine_grid", "grid_sample"]

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

    Args:
        theta: affine maps, of shape (N, 2, 3) or (N, 3, 4)
        size: the sizes of the images that the grid is for: (N, C, H, W) or (N, C, D, H, W)
        align_corners: whether the centres of the outermost elements lie on each other; if False
            or None, their outer edges do

    >>> turn = taeda.tensor([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]])
    >>> grid = taeda.nn.functional.affine_grid(turn, (1, 1, 2, 2), align_corners=True)
    >>> image = taeda.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> taeda.nn.functional.grid_sample(image, grid, align_corners=True)
    tensor([[[[2., 4.],
              [1., 3.]]]])
    """
    if (watched or type(theta) not in exact) and is_for_others((theta,)):
        return call_others(affine_grid, (theta,))
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
    if any(n <= 0 for n in size):
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


@asks
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

    Args:
        input: images of shape (N, C, H, W) or (N, C, D, H, W)
        grid: where to read, from -1 to 1: shape (N, H, W, 2) or (N, D, H, W, 3), x first
        mode: 'bilinear', 'nearest' or 'bicubic' (default: 'bilinear')
        padding_mode: what lies outside: 'zeros', 'border' or 'reflection' (default: 'zeros')
        align_corners: whether the centres of the outermost elements lie on each other; if False
            or None, their outer edges do

    >>> image = taeda.arange(4.0).reshape(1, 1, 2, 2)
    >>> middle = taeda.zeros(1, 1, 1, 2)
    >>> taeda.nn.functional.grid_sample(image, middle, align_corners=True)
    tensor([[[[1.5000]]]])
    """
    require_tensors("grid_sample", input=input, grid=grid)
    if mode not in SAMPLE_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    if align_corners is None:
        _warn_of_default()
        align_corners = False
    _check_grid(input, grid, mode)
    code, padding = SAMPLE_MODES.index(mode), PADDINGS.index(padding_mode)
    if _fits_kernel(input, grid):
        return _nn._grid_sample(input, grid, code, padding, align_corners)
    return grid_sample_by_steps(input, grid, code, padding, align_corners)


def _fits_kernel(input: Tensor, grid: Tensor) -> bool:
    """Whether one call computes it: plain numbers, and no layer that wants to see the steps. A program that
    is recorded to be compiled has the call, one that is exported (in a mode of functions) the steps.
    """
    return (
        get_layers() in (0, TRACE)
        and (input.dtype is taeda.float32 or input.dtype is taeda.float64)
        and all(x.is_cpu or x.is_cuda for x in (input, grid))
        and input.numel() < _MOST_NUMBERS
    )


def _check_grid(input: Tensor, grid: Tensor, mode: str) -> None:
    size, places = input.shape, grid.shape
    n = len(size) - 2
    if n not in (2, 3) or len(places) != n + 2:
        _refuse("4D or 5D input and grid with same number of dimensions", size, places)
    if size[0] != places[0]:
        _refuse("grid and input to have same batch size", size, places)
    if places[-1] != n:
        _refuse(f"grid to have size {n} in last dimension", size, places)
    if 0 in size[2:]:
        _refuse("input to have non-empty spatial dimensions", size, places)
    if input.dtype != grid.dtype:
        raise RuntimeError(
            "grid_sampler(): expected input and grid to have same dtype, but input has "
            f"{input.dtype} and grid has {grid.dtype}"
        )
    if mode == "bicubic" and n != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def _refuse(wanted: str, size: Sequence[int], places: Sequence[int]) -> None:
    raise RuntimeError(
        f"grid_sampler(): expected {wanted}, but got input with sizes {list(size)} and grid with "
        f"sizes {list(places)}"
    )
