"""Linear algebra as users call it: checks, failures, forms of arguments; the numbers come from kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda import dtype as Dtype

from ._linalg_checks import check_floating, check_matrix, check_square, failed
from .view import wrap_dim

Number = int | float | bool | complex
Pair = tuple[Tensor, Tensor]
Triple = tuple[Tensor, Tensor, Tensor]
ZERO_PIVOT = "The diagonal element {} is zero, the {} could not be completed because the input matrix is singular."


# ---- factorizations ----

NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite "
    "(the leading minor of order {} is not positive-definite)."
)


def cholesky_ex(self: Tensor, upper: bool, check_errors: bool) -> Pair:
    """The lower triangle of `self` counts, or the upper one."""
    check_square("linalg.cholesky", self)
    check_floating("linalg.cholesky", self)
    factor, info = taeda._linalg_cholesky(self.mT if upper else self)
    if check_errors:
        failed("linalg.cholesky", info, NOT_POSITIVE)
    return (factor.mT if upper else factor), info


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


def triangles(lu: Tensor) -> Pair:
    """(unit lower, upper) of both in one."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    lower = lu.narrow(-1, 0, k).tril(-1) + taeda.eye(m, k, dtype=lu.dtype, device=lu.device)
    return lower, lu.narrow(-2, 0, k).triu()


def permutation(pivots: Tensor, rows: int, dtype: Dtype) -> Tensor:
    """The matrix P of A = P L U."""
    order = taeda._linalg_permutation(pivots, rows)
    return taeda.eye(rows, dtype=dtype, device=pivots.device)[order].mT.contiguous()


def lu(A: Tensor, pivot: bool) -> Triple:
    """P is empty without pivots."""
    made, pivots = lu_factor(A, pivot)
    lower, upper = triangles(made)
    real = A.dtype.to_real()
    p = permutation(pivots, A.size(-2), real) if pivot else A.new_empty(0, dtype=real)
    return p.to(A.dtype), lower, upper


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Tensor:
    """Two substitutions, and rows exchanged."""
    name = "linalg.lu_solve"
    check_square(name, LU, "LU")
    check_matrix(name, B, "B")
    check_floating(name, LU, B)
    if pivots.dtype != taeda.int32:
        raise RuntimeError(
            f"{name}: pivots should be a Tensor of scalar type torch.int32, got {pivots.dtype}"
        )
    if B.size(-2 if left else -1) != LU.size(-1) or pivots.size(-1) != LU.size(-1):
        raise RuntimeError(
            f"{name}: Incompatible shapes of LU, pivots and B: {list(LU.shape)}, {list(pivots.shape)}, {list(B.shape)}"
        )
    if not left:  # X A = B is A^H X^H = B^H
        return lu_solve(LU, pivots, B.mH, True, not adjoint).mH
    lower, upper = triangles(LU)
    p = permutation(pivots, LU.size(-1), LU.dtype)
    solve = taeda.linalg.solve_triangular
    if adjoint:
        half = solve(upper.mH, B, upper=False)
        return p @ solve(lower.mH, half, upper=True, unitriangular=True)
    return solve(upper, solve(lower, p.mT @ B, upper=False, unitriangular=True), upper=True)


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
    return taeda._linalg_eigh(self, _uplo("linalg.eigvalsh", UPLO), self.requires_grad)[0]


def _finite(name: str, x: Tensor) -> None:
    if not x.is_meta and not bool(x.isfinite().all()):
        raise RuntimeError(f"{name}: input tensor should not contain infs or NaNs.")


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
    return taeda._linalg_eig(self, self.requires_grad)[0]


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
    return taeda._linalg_svd(A, False, A.requires_grad)[1]


def reflections(name: str, input: Tensor, tau: Tensor) -> list[Pair]:
    """(v, tau v^H) of every reflection I - tau v v^H, as columns and rows."""
    check_matrix(name, input, "input")
    m, n = input.shape[-2:]
    if tau.dim() != input.dim() - 1 or tau.size(-1) > n or tau.shape[:-1] != input.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected tau of shape (..., at most {n}) for input {list(input.shape)}, got {list(tau.shape)}"
        )
    check_floating(name, input, tau)
    k = tau.size(-1)
    below = input.narrow(-1, 0, k).tril(-1) + taeda.eye(
        m, k, dtype=input.dtype, device=input.device
    )
    columns = [below.narrow(-1, i, 1) for i in range(k)]
    return [(v, tau.narrow(-1, i, 1).unsqueeze(-1) * v.mH) for i, v in enumerate(columns)]


def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """From the last reflection to the first."""
    check_matrix("linalg.householder_product", input, "input")
    m, n = input.shape[-2:]
    if m < n:
        raise RuntimeError(
            f"linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1], got {m} and {n}"
        )
    steps = reflections("linalg.householder_product", input, tau)
    made = taeda.eye(m, n, dtype=input.dtype, device=input.device).expand(input.shape)
    for v, row in reversed(steps):
        made = made - v @ (row @ made)
    return made if steps else taeda.where(taeda.ones_like(input, dtype=taeda.bool), made, input)


# ---- solutions ----


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
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({A.size(-2)}x{A.size(-1)} and {rows.size(-2)}x{rows.size(-1)})")  # fmt: skip
    made, info = taeda._linalg_solve(A if left else A.mT, rows if left else rows.mT)
    if check_errors:
        failed(name, info, ZERO_PIVOT.format("{}", "solve"))
    made = made if left else made.mT
    return (made.squeeze(-1) if vector else made), info


def solve(A: Tensor, B: Tensor, left: bool) -> Tensor:
    """LinAlgError for a singular matrix."""
    return solve_ex(A, B, left, True)[0]


def solve_triangular(
    self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool
) -> Tensor:
    """The other triangle, and with `unitriangular` the diagonal, are not read."""
    name = "linalg.solve_triangular"
    check_square(name, self)
    check_matrix(name, B, "B")
    check_floating(name, self, B)
    if B.size(-2 if left else -1) != self.size(-1):
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({self.size(-2)}x{self.size(-1)} and {B.size(-2)}x{B.size(-1)})")  # fmt: skip
    if left:
        return taeda._linalg_triangular(self, B, upper, unitriangular)
    return taeda._linalg_triangular(self.mT, B.mT, not upper, unitriangular).mT


def _singular_values(name: str, x: Tensor, hermitian: bool) -> Tensor:
    check_matrix(name, x)
    if hermitian:
        check_square(name, x)
        return taeda.linalg.eigvalsh(x).abs()
    return taeda.linalg.svdvals(x)


Tolerance = Tensor | float | None


def _known(value: Tolerance, like: Tensor) -> Tensor | None:
    if value is None:
        return None
    return taeda.as_tensor(value, dtype=like.dtype, device=like.device)


def _cut(x: Tensor, sizes: Tensor, atol: Tolerance, rtol: Tolerance) -> Tensor:
    """max(atol, rtol * the largest); rtol is eps * the larger side unless given or atol is."""
    atol, rtol = _known(atol, sizes), _known(rtol, sizes)
    if rtol is None:
        small = taeda.finfo(x.dtype).eps * max(x.shape[-2:])
        rtol = taeda.zeros_like(sizes[..., :1].sum(-1)) + small
        if atol is not None:
            rtol = taeda.where(atol > 0, 0.0, rtol)
    largest = sizes.amax(-1) if sizes.size(-1) else sizes.sum(-1)
    cut = rtol * largest
    return cut if atol is None else taeda.maximum(cut, atol)


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
    keep = sizes > _cut(x, sizes, atol, rtol).expand(self.shape[:-2]).unsqueeze(-1)
    return taeda._linalg_pinv(self, u, taeda.where(keep, 1 / values, 0), vh)


def pinv(self: Tensor, rcond: Tensor | float, hermitian: bool) -> Tensor:
    """An older form."""
    return pinv_atol_rtol_tensor(self, None, rcond, hermitian)


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(self: Tensor, b: Tensor, rcond: float | None, driver: str | None) -> tuple[Tensor, ...]:
    """By the pseudoinverse; residuals where there are more equations than unknowns, of full rank."""
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
    made = taeda.linalg.pinv(self, rtol=eps) @ rows
    sizes = taeda.linalg.svdvals(self.detach())
    rank = (sizes > eps * (sizes.amax(-1, True) if sizes.numel() else sizes)).sum(-1)
    driver = driver or "gelsy"
    error = (self @ made - rows).abs().square().sum(-2)
    over = m > n and driver != "gelsy" and (driver == "gels" or bool((rank == n).all()))
    residuals = error if over else error.flatten()[:0]
    return (
        made.squeeze(-1) if vector else made,
        residuals.squeeze(-1) if vector and over else residuals,
        rank.new_empty(0) if driver == "gels" else rank,
        sizes if driver in ("gelsd", "gelss") else sizes.new_empty(0),
    )


def tensorinv(self: Tensor, ind: int) -> Tensor:
    """The first ind dimensions are the rows."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', got {ind}")
    rows, columns = math.prod(self.shape[:ind]), math.prod(self.shape[ind:])
    if rows != columns:
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
                           f"but got {columns} != {rows}")  # fmt: skip
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
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
                           f"but got {unknowns} != {other.numel()}")  # fmt: skip
    return taeda.linalg.solve(self.reshape(unknowns, unknowns), other.reshape(-1)).reshape(shape)


# ---- numbers of a matrix ----


def det(A: Tensor) -> Tensor:
    """0 for a singular matrix."""
    check_square("linalg.det", A)
    check_floating("linalg.det", A)
    return taeda._linalg_det(A)


def slogdet(A: Tensor) -> Pair:
    """(0, -inf) for a singular matrix."""
    check_square("linalg.slogdet", A)
    check_floating("linalg.slogdet", A)
    return taeda._linalg_slogdet(A)


def matrix_rank_atol_rtol_tensor(
    input: Tensor, atol: Tolerance, rtol: Tolerance, hermitian: bool
) -> Tensor:
    """An integer for every matrix."""
    sizes = _singular_values("linalg.matrix_rank", input.detach(), hermitian)
    return (sizes > _cut(input, sizes, atol, rtol).unsqueeze(-1)).sum(-1)


def matrix_rank(input: Tensor, tol: Tensor | float, hermitian: bool) -> Tensor:
    """The tolerance is absolute."""
    return matrix_rank_atol_rtol_tensor(input, tol, 0.0, hermitian)


def _invertible_norms(self: Tensor, p: Number | str) -> Tensor:
    inverse, info = taeda.linalg.inv_ex(self)
    norms = taeda.linalg.matrix_norm(self, p) * taeda.linalg.matrix_norm(inverse, p)
    return taeda.where(info > 0, math.inf, norms)


def cond(self: Tensor, p: Number | None) -> Tensor:
    """Without elements 0; of a singular matrix infinity."""
    check_matrix("linalg.cond", self)
    check_floating("linalg.cond", self)
    if self.numel() == 0:
        return self.new_zeros(self.shape[:-2], dtype=self.dtype.to_real())
    if p in (None, 2, -2):
        sizes = taeda.linalg.svdvals(self)
        first, last = sizes[..., 0], sizes[..., -1]
        return last / first if p == -2 else first / last
    if p is None or abs(p) not in (1, math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_square(f"linalg.cond(ord={p})", self)
    return _invertible_norms(self, p)


def cond_p_str(self: Tensor, p: str) -> Tensor:
    """By the inverse."""
    if p not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_square(f"linalg.cond(ord={p})", self)
    check_floating("linalg.cond", self)
    if self.numel() == 0:
        return self.new_zeros(self.shape[:-2], dtype=self.dtype.to_real())
    return _invertible_norms(self, p)


def _two_dims(name: str, self: Tensor, dim: Sequence[int]) -> tuple[int, int]:
    check_matrix(name, self)
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {list(dim)}")
    first, second = (wrap_dim(d, self.dim()) for d in dim)
    if first == second:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return first, second


def _largest(x: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """Of nothing, 0."""
    return x.amax(dim, keepdim) if x.size(dim) else x.sum(dim, keepdim)


def _spectral(x: Tensor, dims: tuple[int, int], keepdim: bool, ord: Number | str) -> Tensor:
    sizes = taeda.linalg.svdvals(x.movedim(dims, (-2, -1)))
    made = sizes.sum(-1) if ord == "nuc" else _largest(sizes, -1) if ord == 2 else sizes.amin(-1)
    if keepdim:
        for d in sorted(dims):
            made = made.unsqueeze(d)
    return made


def matrix_norm(
    self: Tensor, ord: Number, dim: Sequence[int], keepdim: bool, dtype: Dtype | None
) -> Tensor:
    """1 and -1 are sums of columns, inf and -inf of rows, 2 and -2 singular values."""
    first, second = _two_dims("linalg.matrix_norm", self, dim)
    x = self if dtype is None else self.to(dtype)
    if abs(ord) == 2:
        check_floating("linalg.matrix_norm", x)
        return _spectral(x, (first, second), keepdim, ord)
    if abs(ord) not in (1, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if not (x.is_floating_point() or x.is_complex()):
        check_floating("linalg.matrix_norm", x)
    over, then = (first, second) if abs(ord) == 1 else (second, first)
    sums = taeda.linalg.vector_norm(x, 1, over, True)
    made = (
        _largest(sums, then, True)
        if not isinstance(ord, complex) and ord > 0
        else sums.amin(then, True)
    )
    return made if keepdim else made.squeeze((first, second))


def matrix_norm_str_ord(
    self: Tensor, ord: str, dim: Sequence[int], keepdim: bool, dtype: Dtype | None
) -> Tensor:
    """'fro' is the vector norm of all elements, 'nuc' the sum of the singular values."""
    dims = _two_dims("linalg.matrix_norm", self, dim)
    if ord == "fro":
        return taeda.linalg.vector_norm(self, 2, dims, keepdim, dtype=dtype)
    if ord != "nuc":
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return _spectral(self if dtype is None else self.to(dtype), dims, keepdim, "nuc")


def norm_linalg(
    self: Tensor, ord: Number | None, dim: Sequence[int] | None, keepdim: bool, dtype: Dtype | None
) -> Tensor:
    """Without ord the 2-norm of all elements as one vector; without dim of a tensor of one or two dimensions."""
    if dim is not None and len(dim) > 2 and ord is not None:
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
        )
    if ord is not None and dim is None and self.dim() not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {self.dim()}D."
        )
    if ord is not None and (
        (dim is not None and len(dim) == 2) or (dim is None and self.dim() == 2)
    ):
        return taeda.linalg.matrix_norm(
            self, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype
        )
    return taeda.linalg.vector_norm(self, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def norm_ord_str(
    self: Tensor, ord: str, dim: Sequence[int] | None, keepdim: bool, dtype: Dtype | None
) -> Tensor:
    """Of matrices only."""
    if dim is not None and len(dim) != 2:
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 2 for ord='{ord}'. Got {list(dim)}"
        )
    if dim is None and self.dim() != 2:
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {self.dim()}D."
        )
    return taeda.linalg.matrix_norm(self, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)


# ---- products ----


def matmul_linalg(self: Tensor, other: Tensor) -> Tensor:
    """Another name."""
    return taeda.matmul(self, other)


def matrix_power_linalg(self: Tensor, n: int) -> Tensor:
    """By repeated squares."""
    check_square("linalg.matrix_power", self, "A")
    if n < 0:
        return matrix_power_linalg(taeda.linalg.inv(self), -n)
    made, power = None, self
    while n:
        if n & 1:
            made = power if made is None else made @ power
        n >>= 1
        power = power @ power if n else power
    if made is None:
        unit = taeda.eye(self.size(-1), dtype=self.dtype, device=self.device)
        return taeda.where(taeda.ones_like(self, dtype=taeda.bool), unit, self)
    return made.clone() if made is self else made


TERMS = 18  # of the series, for a norm up to 1: the next is below 1e-17


def matrix_exp_linalg(self: Tensor) -> Tensor:
    """The series of A / 2^s, whose norm is at most 1, squared s times."""
    check_square("linalg.matrix_exp", self)
    if not (self.is_floating_point() or self.is_complex()):
        check_floating("linalg.matrix_exp", self)
    unit = taeda.eye(self.size(-1), dtype=self.dtype, device=self.device).expand(self.shape)
    if self.numel() == 0 or self.is_meta:
        return self.clone()
    size = self.detach().abs().sum(-2).amax().item()
    halvings = max(0, math.ceil(math.log2(size))) if 0 < size < math.inf else 0
    x = self / 2**halvings
    made = unit
    for k in range(TERMS, 0, -1):
        made = unit + (x @ made) / k
    for _ in range(halvings):
        made = made @ made
    return made


def vecdot(x: Tensor, y: Tensor, dim: int) -> Tensor:
    """The first is conjugated; dimensions broadcast."""
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(
            f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {x.dtype}"
        )
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y of one dtype, but got {x.dtype} and {y.dtype}"
        )
    return (x.conj() * y).sum(dim)


def cross_linalg(self: Tensor, other: Tensor, dim: int) -> Tensor:
    """Dimensions broadcast."""
    if self.dim() != other.dim():
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions, but got {self.dim()} and {other.dim()}."
        )
    d = wrap_dim(dim, self.dim())
    if self.size(d) != 3 or other.size(d) != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.size(d)} and {other.size(d)}"
        )
    a, b = taeda.broadcast_tensors(self, other)
    return a.roll(-1, d) * b.roll(1, d) - a.roll(1, d) * b.roll(-1, d)


def vander_linalg(x: Tensor, N: int | None) -> Tensor:
    """The last dimension's elements make the rows."""
    x = x.reshape(1) if x.dim() == 0 else x
    n = x.size(-1) if N is None else N
    if x.dtype is taeda.bool:
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype}"
        )
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)
    return taeda.cat([taeda.ones_like(powers[..., :1]), powers], -1)


def diagonal_linalg(A: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """Of the last two dimensions unless told."""
    return A.diagonal(offset, dim1, dim2)
