"""Solutions of systems of equations and inverses as users call them; the numbers come from kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor

from ._linalg_checks import check_floating, check_matrix, check_square, failed
from ._linalg_tolerance import Tolerance, cut
from .view import wrap_dim

Pair = tuple[Tensor, Tensor]
ZERO_PIVOT = (
    "The diagonal element {} is zero, the {} could not be completed because the input matrix is "
    "singular."
)


def inv_ex(A: Tensor, check_errors: bool) -> Pair:
    """NaN where a matrix is singular."""
    check_square("linalg.inv", A)
    check_floating("linalg.inv", A)
    made, info = taeda._linalg_inv(A)
    if check_errors:
        failed("linalg.inv", info, ZERO_PIVOT.format("{}", "inversion"))
    return made, info


def inv(A: Tensor) -> Tensor:
    """LinAlgError for a singular matrix."""
    return inv_ex(A, True)[0]


def _is_vector(A: Tensor, B: Tensor) -> bool:
    return B.dim() == 1 or (A.dim() - 1 == B.dim() and B.shape == A.shape[:-1])


def solve_ex(A: Tensor, B: Tensor, left: bool, check_errors: bool) -> Pair:
    """B is a vector (a batch of them if it has A's shape without the last dimension) or a matrix."""
    name = "linalg.solve"
    check_square(name, A)
    check_floating(name, A, B)
    vector = _is_vector(A, B)
    if vector and not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False"
        )
    rows = B.unsqueeze(-1) if vector else B
    check_matrix(name, rows, "B")
    if rows.size(-2 if left else -1) != A.size(-1):
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} "
            f"({A.size(-2)}x{A.size(-1)} and {rows.size(-2)}x{rows.size(-1)})"
        )
    made, info = taeda._linalg_solve(A if left else A.mT, rows if left else rows.mT)
    if check_errors:
        failed(name, info, ZERO_PIVOT.format("{}", "solve"))
    made = made if left else made.mT
    return (made.squeeze(-1) if vector else made), info


def solve(A: Tensor, B: Tensor, left: bool) -> Tensor:
    """LinAlgError for a singular matrix."""
    return solve_ex(A, B, left, True)[0]


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Tensor:
    """Batches broadcast."""
    name = "linalg.lu_solve"
    check_square(name, LU, "LU")
    check_matrix(name, B, "B")
    check_floating(name, LU, B)
    if pivots.dtype != taeda.int32:
        raise RuntimeError(
            f"{name}: pivots should be a Tensor of scalar type torch.int32, got {pivots.dtype}"
        )
    if B.size(-2 if left else -1) != LU.size(-1) or pivots.shape != LU.shape[:-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of LU, pivots and B: {list(LU.shape)}, "
            f"{list(pivots.shape)}, {list(B.shape)}"
        )
    if left:
        return taeda._linalg_lu_solve(LU, pivots, B, adjoint)
    return taeda._linalg_lu_solve(LU, pivots, B.mH, not adjoint).mH  # X A = B is A^H X^H = B^H


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, hermitian: bool) -> Tensor:
    """Batches broadcast."""
    name = "linalg.ldl_solve"
    check_square(name, LD, "LD")
    check_matrix(name, B, "B")
    check_floating(name, LD, B)
    if pivots.dtype not in (taeda.int32, taeda.int64):
        raise RuntimeError(
            f"{name}: pivots should be a Tensor of scalar type torch.int32, got {pivots.dtype}"
        )
    if B.size(-2) != LD.size(-1) or pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of LD, pivots and B: {list(LD.shape)}, "
            f"{list(pivots.shape)}, {list(B.shape)}"
        )
    return taeda._linalg_ldl_solve(LD, pivots.to(taeda.int32), B, hermitian)


def solve_triangular(
    self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool
) -> Tensor:
    """The other triangle, and with `unitriangular` the diagonal, are not read."""
    name = "linalg.solve_triangular"
    check_square(name, self)
    check_matrix(name, B, "B")
    check_floating(name, self, B)
    if B.size(-2 if left else -1) != self.size(-1):
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} "
            f"({self.size(-2)}x{self.size(-1)} and {B.size(-2)}x{B.size(-1)})"
        )
    if left:
        return taeda._linalg_triangular(self, B, upper, unitriangular)
    return taeda._linalg_triangular(self.mT, B.mT, not upper, unitriangular).mT


def pinv_atol_rtol_tensor(
    self: Tensor, atol: Tolerance, rtol: Tolerance, hermitian: bool
) -> Tensor:
    """Singular values up to the larger tolerance count as 0."""
    check_matrix("linalg.pinv", self)
    check_floating("linalg.pinv", self)
    x = self.detach()
    if hermitian:
        check_square("linalg.pinv", x)
        values, u = taeda._linalg_eigh(x, "L", True)
        vh = u.mH
    else:
        u, values, vh = taeda._linalg_svd(x, False, True)
    sizes = values.abs()
    keep = sizes > cut(x, sizes, atol, rtol).expand(self.shape[:-2]).unsqueeze(-1)
    return taeda._linalg_pinv(self, u, taeda.where(keep, 1 / values, 0), vh)


def pinv(self: Tensor, rcond: Tensor | float, hermitian: bool) -> Tensor:
    """An older form."""
    return pinv_atol_rtol_tensor(self, None, rcond, hermitian)


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _own_batch(x: Tensor, shape: Sequence[int], trailing: int) -> Tensor:
    """What all matrices of an expanded batch share, once for every matrix that there was."""
    x = x[(0,) * (x.dim() - trailing - len(shape))]
    return x[tuple(slice(size) for size in shape)]


def lstsq(self: Tensor, b: Tensor, rcond: float | None, driver: str | None) -> tuple[Tensor, ...]:
    """Residuals where there are more equations than unknowns, of full rank."""
    name = "linalg.lstsq"
    check_matrix(name, self)
    check_floating(name, self, b)
    if driver is not None and driver not in DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of {DRIVERS}, got {driver!r}")
    vector = self.dim() - 1 == b.dim() and b.shape == self.shape[:-1]
    rows = b.unsqueeze(-1) if vector else b
    check_matrix(name, rows, "b")
    if rows.size(-2) != self.size(-2):
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size(-2), got {self.size(-2)} and {rows.size(-2)}"
        )
    m, n = self.shape[-2:]
    eps = taeda.finfo(self.dtype).eps * max(m, n) if rcond is None else rcond
    driver = driver or "gelsy"
    batch = taeda.broadcast_shapes(self.shape[:-2], rows.shape[:-2])
    wide = self.expand(*batch, m, n)
    made, rank, sizes = taeda._linalg_lstsq(
        wide, rows.expand(*batch, *rows.shape[-2:]), eps, driver
    )
    rank = _own_batch(rank, self.shape[:-2], 0)
    over = m > n and driver != "gelsy" and (driver == "gels" or bool((rank == n).all()))
    none = made.abs().flatten()[:0]  # differentiable, as residuals are
    residuals = (self @ made - rows).abs().square().sum(-2) if over else none
    return (
        made.squeeze(-1) if vector else made,
        residuals.squeeze(-1) if vector and over else residuals,
        rank.new_empty(0) if driver == "gels" else rank,
        _own_batch(sizes, self.shape[:-2], 1)
        if driver in ("gelsd", "gelss")
        else sizes.new_empty(0),
    )


def tensorinv(self: Tensor, ind: int) -> Tensor:
    """The first ind dimensions are the rows."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', got {ind}")
    rows, columns = math.prod(self.shape[:ind]), math.prod(self.shape[ind:])
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            "prod(self.shape[:ind]), "
            f"but got {columns} != {rows}"
        )
    made = taeda.linalg.inv(self.reshape(rows, columns))
    return made.reshape(*self.shape[ind:], *self.shape[:ind])


def tensorsolve(self: Tensor, other: Tensor, dims: Sequence[int] | None) -> Tensor:
    """`dims` are moved to the end before."""
    if dims is not None:
        moved = [wrap_dim(d, self.dim()) for d in dims]
        self = self.movedim(moved, list(range(self.dim() - len(moved), self.dim())))
    shape = self.shape[other.dim() :]
    unknowns = math.prod(shape)
    if unknowns != other.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement "
            "prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {unknowns} != {other.numel()}"
        )
    return taeda.linalg.solve(self.reshape(unknowns, unknowns), other.reshape(-1)).reshape(shape)
