"""Linear algebra under its older names and arguments."""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._linalg_checks import check_matrix, check_square
from ._linalg_packed import permutation, reflections, triangles

Pair = tuple[Tensor, Tensor]
Triple = tuple[Tensor, Tensor, Tensor]


def cross(self: Tensor, other: Tensor, dim: int | None) -> Tensor:
    """RuntimeError if no dimension has size 3."""
    if dim is None:
        found = [d for d, size in enumerate(self.shape) if size == 3]
        if not found:
            raise RuntimeError(
                f"cross: no dimension of size 3 in input of shape {list(self.shape)}"
            )
        dim = found[0]
    return taeda.linalg.cross(self, other, dim=dim)


def vander(x: Tensor, N: int | None, increasing: bool) -> Tensor:
    """A row for every element of a vector."""
    if x.dim() != 1:
        raise RuntimeError(f"vander: x must be a one-dimensional tensor, got {x.dim()} dimensions")
    n = x.numel() if N is None else N
    if n < 0:
        raise RuntimeError(f"vander: N must be non-negative, got {n}")
    powers = x.unsqueeze(1).expand(x.numel(), max(n - 1, 0)).cumprod(1)
    whole = powers.dtype
    made = taeda.cat([taeda.ones(x.numel(), min(n, 1), dtype=whole, device=x.device), powers], 1)
    return made if increasing else made.flip(1)


def cholesky(self: Tensor, upper: bool) -> Tensor:
    """The triangle asked for is the one that is read."""
    return taeda.linalg.cholesky(self, upper=upper)


def _lower(L: Tensor, upper: bool) -> Tensor:
    return L.triu().mH if upper else L.tril()


def cholesky_inverse(self: Tensor, upper: bool) -> Tensor:
    """One triangle is read."""
    check_square("cholesky_inverse", self, "A")
    unit = taeda.eye(self.size(-1), dtype=self.dtype, device=self.device)
    half = taeda.linalg.solve_triangular(_lower(self, upper), unit, upper=False)
    return half.mH @ half


def cholesky_solve(self: Tensor, input2: Tensor, upper: bool) -> Tensor:
    """Two substitutions."""
    if self.dim() < 2:
        raise RuntimeError(
            f"b should have at least 2 dimensions, but has {self.dim()} dimensions instead"
        )
    if input2.dim() < 2:
        raise RuntimeError(
            f"u should have at least 2 dimensions, but has {input2.dim()} dimensions instead"
        )
    lower = _lower(input2, upper)
    half = taeda.linalg.solve_triangular(lower, self, upper=False)
    return taeda.linalg.solve_triangular(lower.mH, half, upper=True)


def inverse(self: Tensor) -> Tensor:
    """Another name."""
    return taeda.linalg.inv(self)


def det(self: Tensor) -> Tensor:
    """Another name."""
    return taeda.linalg.det(self)


def slogdet(self: Tensor) -> Pair:
    """Another name."""
    sign, size = taeda.linalg.slogdet(self)
    return sign, size


def logdet(self: Tensor) -> Tensor:
    """-inf for a singular matrix."""
    sign, size = taeda.linalg.slogdet(self)
    return sign.log() + size if self.is_complex() else taeda.where(sign == -1, float("nan"), size)


def qr(self: Tensor, some: bool) -> Pair:
    """Reduced or complete."""
    check_matrix("linalg.qr", self)
    q, r = taeda.linalg.qr(self, "reduced" if some else "complete")
    return q, r


def svd(self: Tensor, some: bool, compute_uv: bool) -> Triple:
    """Zeros for vectors that are not computed."""
    check_matrix("linalg.svd", self)
    if compute_uv:
        u, s, vh = taeda.linalg.svd(self, full_matrices=not some)
        return u, s, vh.mH
    m, n = self.shape[-2:]
    batch = self.shape[:-2]
    return self.new_zeros(*batch, m, m), taeda.linalg.svdvals(self), self.new_zeros(*batch, n, n)


def lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Arguments in another order."""
    return taeda.linalg.lu_solve(LU_data, LU_pivots, self)


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool) -> Triple:
    """What is not unpacked is empty."""
    check_matrix("lu_unpack", LU_data, "LU_data")
    if unpack_pivots and LU_pivots.dtype != taeda.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of "
            "torch.int32 dtype. Note: this "
            "function is intended to be used with the output produced by "
            f"torch.linalg.lu_factor; got {LU_pivots.dtype}"
        )
    none = LU_data.new_empty(0)
    lower, upper = triangles(LU_data) if unpack_data else (none, none)
    p = permutation(LU_pivots, LU_data.size(-2), LU_data.dtype) if unpack_pivots else none
    return p, lower, upper


def matrix_exp(self: Tensor) -> Tensor:
    """Another name."""
    return taeda.linalg.matrix_exp(self)


def matrix_power(self: Tensor, n: int) -> Tensor:
    """Another name."""
    return taeda.linalg.matrix_power(self, n)


def pinverse(self: Tensor, rcond: float) -> Tensor:
    """Another name."""
    return taeda.linalg.pinv(self, rcond)


def triangular_solve(
    self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> Pair:
    """Also a copy of A, as it was always."""
    matrix, side = (A.mT, not upper) if transpose else (A, upper)
    made = taeda.linalg.solve_triangular(matrix, self, upper=side, unitriangular=unitriangular)
    return made, A.expand(*made.shape[:-2], *A.shape[-2:]).clone()


def orgqr(self: Tensor, input2: Tensor) -> Tensor:
    """Another name."""
    return taeda.linalg.householder_product(self, input2)


def ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool) -> Tensor:
    """The product of the reflections is never made."""
    v, t = reflections("ormqr", self, input2)
    side = -2 if left else -1
    if input3.size(side) != self.size(-2):
        raise RuntimeError(
            f"ormqr: other.shape[{side}] must be equal to input.shape[-2], got {input3.size(side)} "
            f"and {self.size(-2)}"
        )
    t = t.mH if transpose else t
    return input3 - (v @ (t @ (v.mH @ input3)) if left else ((input3 @ v) @ t) @ v.mH)
