"""Factorizations as users call them: checks, failures, forms of arguments; the numbers come from kernels."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._layers.asked import all_hold
from taeda._native import core as _core

from ._linalg_checks import check_floating, check_matrix, check_square, failed
from ._linalg_packed import permutation, reflections, triangles

Pair = tuple[Tensor, Tensor]
Triple = tuple[Tensor, Tensor, Tensor]

NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite "
    "(the leading minor of order {} is not positive-definite)."
)


def cholesky_ex(self: Tensor, upper: bool, check_errors: bool) -> Pair:
    """The lower triangle of `self` counts, or the upper one."""
    check_square("linalg.cholesky", self)
    check_floating("linalg.cholesky", self)
    factor, info = taeda._linalg_cholesky(self, upper)
    if check_errors:
        failed("linalg.cholesky", info, NOT_POSITIVE)
    return factor, info


def cholesky(self: Tensor, upper: bool) -> Tensor:
    """LinAlgError unless all matrices are positive definite."""
    return cholesky_ex(self, upper, True)[0]


def qr(A: Tensor, mode: str) -> Pair:
    """Q is empty for mode 'r', square for 'complete'."""
    check_matrix("linalg.qr", A)
    check_floating("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced', 'r', or 'complete'"
        )
    return taeda._linalg_qr(A, mode)


def lu_factor_ex(A: Tensor, pivot: bool, check_errors: bool) -> Triple:
    """Exchanges of rows count from 1."""
    check_matrix("linalg.lu_factor", A)
    check_floating("linalg.lu_factor", A)
    made = taeda._linalg_lu(A, pivot)
    if check_errors:
        failed(
            "linalg.lu_factor",
            made[2],
            "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero.",
        )
    return made


def lu_factor(A: Tensor, pivot: bool) -> Pair:
    """A singular matrix has factors as well."""
    made, pivots, _ = lu_factor_ex(A, pivot, False)
    return made, pivots


def lu(A: Tensor, pivot: bool) -> Triple:
    """P is empty without pivots."""
    made, pivots = lu_factor(A, pivot)
    lower, upper = triangles(made)
    real = A.dtype.to_real()
    p = permutation(pivots, A.size(-2), real) if pivot else A.new_empty(0, dtype=real)
    return p.to(A.dtype), lower, upper


ZERO_IN_D = (
    "Element {0} of D is zero, and using the factors in ldl_solve would result in a division by it."
)


def ldl_factor_ex(self: Tensor, hermitian: bool, check_errors: bool) -> Triple:
    """The lower triangle counts."""
    check_square("linalg.ldl_factor_ex", self)
    check_floating("linalg.ldl_factor_ex", self)
    made = taeda._linalg_ldl(self, hermitian)
    if check_errors:
        failed("linalg.ldl_factor", made[2], ZERO_IN_D)
    return made


def ldl_factor(self: Tensor, hermitian: bool) -> Pair:
    """LinAlgError for a singular matrix."""
    made, pivots, _ = ldl_factor_ex(self, hermitian, True)
    return made, pivots


def _uplo(name: str, UPLO: str) -> str:
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"{name}: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO


def eigh(self: Tensor, UPLO: str) -> Pair:
    """Vectors are columns."""
    check_square("linalg.eigh", self)
    check_floating("linalg.eigh", self)
    return taeda._linalg_eigh(self, _uplo("linalg.eigh", UPLO), True)


def eigvalsh(self: Tensor, UPLO: str) -> Tensor:
    """Vectors are computed if a gradient is wanted."""
    check_square("linalg.eigvalsh", self)
    check_floating("linalg.eigvalsh", self)
    return taeda._linalg_eigh(self, _uplo("linalg.eigvalsh", UPLO), _core.wants_derivative(self))[0]


def _finite(name: str, x: Tensor) -> None:
    says = f"{name}: input tensor should not contain infs or NaNs."
    if not all_hold(x.isfinite(), says):
        raise RuntimeError(says)


def eig(self: Tensor) -> Pair:
    """Vectors are columns of length 1."""
    check_square("linalg.eig", self)
    check_floating("linalg.eig", self)
    _finite("linalg.eig", self)
    return taeda._linalg_eig(self, True)


def eigvals(self: Tensor) -> Tensor:
    """Vectors are computed if a gradient is wanted."""
    check_square("linalg.eigvals", self)
    check_floating("linalg.eigvals", self)
    _finite("linalg.eigvals", self)
    return taeda._linalg_eig(self, _core.wants_derivative(self))[0]


def svd(A: Tensor, full_matrices: bool, driver: str | None) -> Triple:
    """The driver is for accelerators."""
    check_matrix("linalg.svd", A)
    check_floating("linalg.svd", A)
    if driver is not None:
        raise RuntimeError(
            "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs"
        )
    return taeda._linalg_svd(A, full_matrices, True)


def svdvals(A: Tensor, driver: str | None) -> Tensor:
    """Vectors are computed if a gradient is wanted."""
    check_matrix("linalg.svdvals", A)
    check_floating("linalg.svdvals", A)
    if driver is not None:
        raise RuntimeError(
            "linalg.svdvals: keyword argument `driver=` is only supported on CUDA inputs"
        )
    return taeda._linalg_svd(A, False, _core.wants_derivative(A))[1]


def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product, as many as `input` has."""
    check_matrix("linalg.householder_product", input, "input")
    m, n = input.shape[-2:]
    if m < n:
        raise RuntimeError(
            "linalg.householder_product: input.shape[-2] must be greater than or equal to "
            f"input.shape[-1], got {m} and {n}"
        )
    v, t = reflections("linalg.householder_product", input, tau)
    unit = taeda.eye(m, n, dtype=input.dtype, device=input.device)
    return unit - v @ (t @ v.narrow(-2, 0, n).mH)
