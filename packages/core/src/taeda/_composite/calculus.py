"""Areas by the trapezoid rule, slopes by differences."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._short_floats import rounded_once

from .view import wrap_dim

__all__ = [
    "cumulative_trapezoid_dx",
    "cumulative_trapezoid_x",
    "gradient",
    "trapezoid_dx",
    "trapezoid_x",
    "trapz_dx",
    "trapz_x",
]

Number = int | float | bool | complex


# ---- areas ----


def _heights(name: str, y: Tensor, dim: int) -> Tensor:
    """Twice the mean height between neighbours."""
    if y.dtype is taeda.bool:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    last = max(y.size(dim) - 1, 0)
    return y.narrow(dim, 0, last) + y.narrow(dim, min(1, y.size(dim)), last)


def _widths(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """Distances between neighbours of `x`, in a shape that broadcasts with the heights."""
    if x.dtype is taeda.bool:
        raise RuntimeError(f"{name}: received a bool input for `x`, but bool is not supported")
    if x.dim() == 1:
        if x.size(0) != y.size(dim):
            raise RuntimeError(
                f"{name}: There must be one `x` value for each sample point, got {x.size(0)} for "
                f"{y.size(dim)}"
            )
        x = x.reshape([-1 if d == wrap_dim(dim, y.dim()) else 1 for d in range(y.dim())])
    elif x.dim() < y.dim():
        x = x.reshape([1] * (y.dim() - x.dim()) + list(x.shape))
    last = max(x.size(dim) - 1, 0)
    return x.narrow(dim, min(1, x.size(dim)), last) - x.narrow(dim, 0, last)


def _areas(name: str, y: Tensor, x: Tensor | None, dx: Number, dim: int) -> Tensor:
    doubled = _heights(name, y, dim)
    return (doubled * (dx if x is None else _widths(name, y, x, dim))) / 2


@rounded_once
def trapezoid_x(y: Tensor, x: Tensor, dim: int) -> Tensor:
    """One area for every row; of a single sample or none it is 0."""
    return _areas("trapezoid", y, x, 1, dim).sum(dim)


@rounded_once
def trapezoid_dx(y: Tensor, dx: Number, dim: int) -> Tensor:
    """Samples at equal distances: the heights are added before the distance is counted in."""
    return _heights("trapezoid", y, dim).sum(dim) * (dx / 2)


@rounded_once
def cumulative_trapezoid_x(y: Tensor, x: Tensor, dim: int) -> Tensor:
    """One entry less than there are samples."""
    return _areas("cumulative_trapezoid", y, x, 1, dim).cumsum(dim)


@rounded_once
def cumulative_trapezoid_dx(y: Tensor, dx: Number, dim: int) -> Tensor:
    """Samples at equal distances."""
    return _areas("cumulative_trapezoid", y, None, dx, dim).cumsum(dim)


trapz_x, trapz_dx = trapezoid_x, trapezoid_dx

# ---- slopes ----


def gradient(
    self: Tensor,
    spacing: Number | Sequence[float] | Sequence[Tensor] | None,
    dim: int | Sequence[int] | None,
    edge_order: int,
) -> list[Tensor]:
    """A tensor of slopes for each dimension; `spacing` holds distances, or coordinates as vectors."""
    dims = _dims(self, dim)
    steps = _steps(spacing, len(dims))
    for d in dims:
        if self.size(d) < edge_order + 1:
            raise RuntimeError(
                f"torch.gradient expected each dimension size to be at least edge_order+1, got {self.size(d)}"
            )
    if edge_order not in (1, 2):
        raise RuntimeError(
            f"torch.gradient only supports edge_order=1 and edge_order=2, got {edge_order}"
        )
    if self.dtype is taeda.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input")
    return [_slope(self, h, d, edge_order) for d, h in zip(dims, steps, strict=True)]


def _dims(x: Tensor, dim: int | Sequence[int] | None) -> list[int]:
    if dim is None:
        return list(range(x.dim()))
    dims = [wrap_dim(d, x.dim()) for d in ([dim] if isinstance(dim, int) else dim)]
    if len(set(dims)) < len(dims):
        raise RuntimeError(f"gradient: a dimension appears multiple times in {list(dims)}")
    return dims


def _steps(
    spacing: Number | Sequence[float] | Sequence[Tensor] | None, count: int
) -> Sequence[Number | Tensor]:
    if spacing is None or isinstance(spacing, int | float | complex):
        return [1 if spacing is None else spacing] * count
    if len(spacing) != count:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list with one "
            "entry for each of "
            f"{count} dimensions, but got a list of {len(spacing)}"
        )
    return spacing


def _slope(x: Tensor, spacing: Number | Tensor, dim: int, edge_order: int) -> Tensor:
    n = x.size(dim)
    if isinstance(spacing, taeda.Tensor):
        if spacing.dim() != 1 or spacing.numel() != n:
            raise RuntimeError(
                f"torch.gradient expected each tensor of spacing to be a vector of {n} "
                f"coordinates, got {list(spacing.shape)}"
            )
        h = spacing.diff().reshape([-1 if d == dim else 1 for d in range(x.dim())])
    else:
        shape = [n - 1 if d == dim else 1 for d in range(x.dim())]
        dtype = taeda.result_type(x, 1j if isinstance(spacing, complex) else 1.0)
        h = taeda.full(shape, spacing, dtype=dtype, device=x.device)
    rise = x.diff(dim=dim) / h
    first, last = rise.narrow(dim, 0, 1), rise.narrow(dim, n - 2, 1)
    if n == 2:
        return taeda.cat([first, last], dim)
    middle = _inside(x, rise, h, dim, n - 2, not isinstance(spacing, taeda.Tensor))
    if edge_order == 2:
        first = first + (first - rise.narrow(dim, 1, 1)) * _share(h, dim, 0, 1)
        last = last + (last - rise.narrow(dim, n - 3, 1)) * _share(h, dim, n - 2, n - 3)
    return taeda.cat([first, middle, last], dim)


def _inside(x: Tensor, rise: Tensor, h: Tensor, dim: int, n: int, even: bool) -> Tensor:
    """The slopes between the ends. Those of even steps see the two neighbours only: a mean of the
    slopes on both sides would be NaN where the point itself is infinite.
    """
    before, after = h.narrow(dim, 0, n), h.narrow(dim, 1, n)
    if even:
        return (x.narrow(dim, 2, n) - x.narrow(dim, 0, n)) / (before + after)
    left, right = rise.narrow(dim, 0, n), rise.narrow(dim, 1, n)
    return (left * after + right * before) / (before + after)


def _share(h: Tensor, dim: int, near: int, far: int) -> Tensor:
    """How far the edge lies from the middle of its interval, in distances of the middles."""
    a, b = h.narrow(dim, near, 1), h.narrow(dim, far, 1)
    return a / (a + b)
