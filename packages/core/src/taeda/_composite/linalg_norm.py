"""Numbers that say something of a matrix: determinant, rank, condition, norms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda import dtype as Dtype

from ._linalg_checks import check_floating, check_matrix, check_square
from ._linalg_tolerance import Tolerance, cut
from .view import wrap_dim

Number = int | float | bool | complex
Pair = tuple[Tensor, Tensor]


def _singular_values(name: str, x: Tensor, hermitian: bool) -> Tensor:
    check_matrix(name, x)
    if hermitian:
        check_square(name, x)
        return taeda.linalg.eigvalsh(x).abs()
    return taeda.linalg.svdvals(x)


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
    return (sizes > cut(input, sizes, atol, rtol).unsqueeze(-1)).sum(-1)


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
    """Without ord the 2-norm of all elements as one vector; without dim of a tensor of one or two
    dimensions.
    """
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
