"""Distances between rows."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._short_floats import rounded_once

from .view import wrap_dim

__all__ = ["cdist", "renorm"]

MODES = (
    None,
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)
MANY = 25  # rows from which on one product of matrices pays


def _check(x1: Tensor, x2: Tensor, p: float, mode: str | None) -> None:
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.is_floating_point():
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x.dtype}")
        if x.dim() < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.dim()}D")
    if x1.size(-1) != x2.size(-1):
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.size(-1)} X2: {x2.size(-1)}"
        )
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if mode not in MODES:
        raise ValueError(f"{mode} is not a valid value for compute_mode; use one of {MODES[1:]}")


def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: str | None) -> Tensor:
    """One matrix for each batch; many rows with p = 2 go through a product of matrices, unless forbidden."""
    _check(x1, x2, p, compute_mode)
    many = x1.size(-2) > MANY or x2.size(-2) > MANY
    product = compute_mode == MODES[2] or (many and compute_mode in MODES[:2])
    if p == 2 and product and x1.size(-1) and x1.numel() and x2.numel():
        return taeda._euclidean_dist(x1, x2)
    if not {x1.device.type, x2.device.type} <= {"cpu", "cuda"}:  # others have no kernel of rows
        return taeda.linalg.vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)
    return _by_rows(x1, x2, p)


def _by_rows(x1: Tensor, x2: Tensor, p: float) -> Tensor:
    """All distances of a batch in one call: a tensor of the differences would be M times as large."""
    dtype = taeda.promote_types(x1.dtype, x2.dtype)
    wide = dtype if dtype.itemsize > 2 else taeda.float32
    batch = taeda.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    a, b = (x.to(wide).expand(*batch, *x.shape[-2:]) for x in (x1, x2))
    return taeda._row_distances(a, b, p).to(dtype)


@rounded_once
def renorm(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """The norm of a slice is over all other dimensions."""
    if isinstance(p, complex) or isinstance(maxnorm, complex):
        raise RuntimeError(f"renorm: p and maxnorm must be real-valued, got {p} and {maxnorm}")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive norm not supported, got p={p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if self.dim() < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {self.dim()} dimensions"
        )
    others = [*range(self.dim())]
    del others[wrap_dim(dim, self.dim())]
    norm = taeda.linalg.vector_norm(self, p, others, True)
    # a quotient of the numbers themselves: the square of a large norm leaves the range
    return taeda.where(norm > maxnorm, self / (norm + 1e-7) * maxnorm, self)
