"""Reductions that are written in terms of other operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda import dtype as Dtype
from taeda._layers.asked import all_hold
from taeda._short_floats import rounded_once, widened

from ._segments import segment_reduce

__all__ = [
    "dist",
    "frobenius_norm_dim",
    "max_other",
    "min_other",
    "nanmean",
    "nanquantile",
    "nanquantile_scalar",
    "norm",
    "norm_str",
    "nuclear_norm",
    "nuclear_norm_dim",
    "quantile",
    "quantile_scalar",
    "segment_reduce",
    "sum_to_size",
    "trace",
]

Number = int | float | bool | complex


def max_other(self: Tensor, other: Tensor) -> Tensor:
    """The larger of two elements."""
    return taeda.maximum(self, other)


def min_other(self: Tensor, other: Tensor) -> Tensor:
    """The smaller of two elements."""
    return taeda.minimum(self, other)


def nanmean(self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: Dtype | None) -> Tensor:
    """Sum of the elements that are not NaN, by their number.
    Raises RuntimeError for integers, also as `dtype`.
    """
    if not (self.is_floating_point() or self.is_complex()):
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {self.dtype}"
        )
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"nanmean(): expected a floating point or complex dtype, got {dtype}")
    dims = dim if dim else list(range(self.dim()))
    count = (~taeda.isnan(self)).sum(dims, keepdim)
    x, made = widened(self), dtype or self.dtype
    if self.is_complex():
        total = taeda.where(taeda.isnan(x), 0, x).sum(dims, keepdim, dtype=dtype)
    else:
        total = taeda.nansum(x, dims, keepdim, dtype=dtype)
    return (widened(total) / count).to(made)


def trace(self: Tensor) -> Tensor:
    """Integers add up as int64. Raises RuntimeError for anything but a matrix."""
    if self.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.dim()}")
    if self.dtype is taeda.bool:
        raise NotImplementedError("trace is not implemented for taeda.bool")
    return self.diagonal().sum()


def sum_to_size(self: Tensor, size: Sequence[int]) -> Tensor:
    """The tensor itself if it has the size already."""
    extra = self.dim() - len(size)
    wanted = [1] * extra + list(size)
    if extra < 0 or any(n not in (1, m) for n, m in zip(wanted, self.shape, strict=True)):
        raise RuntimeError(
            f"size {list(size)} is not expandable to size {list(self.shape)}: nothing to sum"
        )
    if not size:
        return self.sum()
    dims = [
        d for d, (n, m) in enumerate(zip(wanted, self.shape, strict=True)) if n != m or d < extra
    ]
    return self.sum(dims, keepdim=True).view(size) if dims else self


# ---- norms ----


def norm(
    self: Tensor,
    p: Number | None,
    dim: Sequence[int] | None,
    keepdim: bool,
    dtype: Dtype | None,
) -> Tensor:
    """The vector norm of order `p`, 2 if None."""
    return taeda.linalg.vector_norm(self, 2 if p is None else p, dim, keepdim, dtype=dtype)


def norm_str(
    self: Tensor, p: str, dim: Sequence[int] | None, keepdim: bool, dtype: Dtype | None
) -> Tensor:
    """The Frobenius norm is the vector norm of order 2; the nuclear norm is that of matrices."""
    if p == "fro":
        return taeda.linalg.vector_norm(self, 2, dim, keepdim, dtype=dtype)
    if p == "nuc":
        return taeda.linalg.matrix_norm(
            self, "nuc", (0, 1) if dim is None else dim, keepdim, dtype=dtype
        )
    raise RuntimeError(f"norm: the only str orders are 'fro' and 'nuc', got '{p}'")


def frobenius_norm_dim(self: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The vector norm of order 2."""
    return taeda.linalg.vector_norm(self, 2, dim, keepdim)


def nuclear_norm(self: Tensor, keepdim: bool) -> Tensor:
    """Of one matrix."""
    if self.dim() != 2:
        raise RuntimeError(f"nuclear_norm: expected a matrix, got {self.dim()} dimensions")
    return taeda.linalg.matrix_norm(self, "nuc", (0, 1), keepdim)


def nuclear_norm_dim(self: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """Of the matrices that two dimensions span."""
    return taeda.linalg.matrix_norm(self, "nuc", dim, keepdim)


@rounded_once
def dist(self: Tensor, other: Tensor, p: Number) -> Tensor:
    """The norm of the difference."""
    return taeda.linalg.vector_norm(self - other, p)


# ---- quantiles ----

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(self: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str) -> Tensor:
    """Quantiles for every number in `q`, which makes a new first dimension if it is a vector."""
    return _quantile("quantile", self, q, dim, keepdim, interpolation, ignore_nan=False)


def quantile_scalar(
    self: Tensor, q: float, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    """One quantile."""
    _check_q("quantile", q)
    at = taeda.full((), q, dtype=self.dtype, device=self.device)
    return _quantile(
        "quantile", self, at, dim, keepdim, interpolation, ignore_nan=False, known=True
    )


def nanquantile(
    self: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    """Quantiles of what is not NaN; NaN where nothing is left."""
    return _quantile("nanquantile", self, q, dim, keepdim, interpolation, ignore_nan=True)


def nanquantile_scalar(
    self: Tensor, q: float, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    """One quantile of what is not NaN."""
    _check_q("nanquantile", q)
    at = taeda.full((), q, dtype=self.dtype, device=self.device)
    return _quantile(
        "nanquantile", self, at, dim, keepdim, interpolation, ignore_nan=True, known=True
    )


def _check_q(name: str, q: float) -> None:
    if not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")


def _check_quantile(name: str, self: Tensor, q: Tensor, interpolation: str, known: bool) -> None:
    """`known`: q lies in its range."""
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of {', '.join(_INTERPOLATIONS)}, but got {interpolation}"
        )
    if self.numel() == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if self.dtype not in (taeda.float32, taeda.float64):
        raise RuntimeError(
            f"{name}() input tensor must be either float or double dtype, got {self.dtype}"
        )
    if q.dim() > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor, got shape {tuple(q.shape)}")
    if q.dtype != self.dtype:
        raise RuntimeError(
            f"{name}() q tensor must be same dtype as the input tensor, got {q.dtype} and {self.dtype}"
        )
    says = f"{name}() q values must be in the range [0, 1]"
    if not known and not all_hold((q >= 0) & (q <= 1), says):
        raise RuntimeError(says)


def _quantile(
    name: str,
    self: Tensor,
    q: Tensor,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
    *,
    ignore_nan: bool,
    known: bool = False,
) -> Tensor:
    _check_quantile(name, self, q, interpolation, known)
    along = self.flatten() if dim is None or self.dim() == 0 else self.movedim(dim, -1)
    ordered = along.sort(-1)[0]
    rank = _ranks(ordered, q.reshape(-1), ignore_nan)
    result = _between(ordered, rank, interpolation).movedim(-1, 0)
    if not ignore_nan:
        spoilt = taeda.isnan(along).any(-1)
        result = taeda.where(spoilt, math.nan, result)
    if keepdim:
        result = _keep(result, self.dim(), dim)
    return result if q.dim() else result.squeeze(0)


def _ranks(ordered: Tensor, q: Tensor, ignore_nan: bool) -> Tensor:
    """Where each quantile lies among the sorted elements, as a real number: [..., number of q]."""
    last = ordered.size(-1) - 1
    if not ignore_nan:
        return (q * last).expand(*ordered.shape[:-1], q.numel())
    valid = (~taeda.isnan(ordered)).sum(-1, True) - 1
    return (q * valid.to(ordered.dtype)).clamp_min(0)


def _between(ordered: Tensor, rank: Tensor, interpolation: str) -> Tensor:
    if interpolation == "nearest":
        return ordered.gather(-1, rank.round().to(taeda.int64))
    low = rank.floor().to(taeda.int64)
    if interpolation == "lower":
        return ordered.gather(-1, low)
    high = rank.ceil().to(taeda.int64)
    if interpolation == "higher":
        return ordered.gather(-1, high)
    below, above = ordered.gather(-1, low), ordered.gather(-1, high)
    share = taeda.full_like(rank, 0.5) if interpolation == "midpoint" else rank - low.to(rank.dtype)
    return taeda.lerp(below, above, share)


def _keep(result: Tensor, ndim: int, dim: int | None) -> Tensor:
    """Put back dimensions of size 1 for those that are gone."""
    if dim is None:
        return result.reshape(result.size(0), *[1] * ndim)
    return result.unsqueeze(dim % ndim + 1) if ndim else result
