"""Linear algebra of the standard, its extension `linalg` included."""

from __future__ import annotations

from typing import Any, NamedTuple

import taeda
from taeda import Tensor

from ._common import Axis, pair, wide
from ._manipulation import matrix_transpose
from ._reduction import _total

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip

_l = taeda.linalg


class EigResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Products of matrices and vectors. ValueError for an array without axes.

    >>> taeda.array_api.matmul(taeda.tensor([[1, 2]]), taeda.tensor([[3], [4]]))
    tensor([[11]])
    """
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError("matmul: an array without axes is no matrix and no vector")
    return wide(taeda.matmul, *pair(x1, x2))


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    """Sums of products over axes of both.

    >>> taeda.array_api.tensordot(taeda.ones(2, 3), taeda.ones(3, 4), axes=1).shape
    taeda.Size([2, 4])
    """
    return wide(lambda a, b: taeda.tensordot(a, b, dims=axes), *pair(x1, x2))


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Products of vectors along an axis; the first is conjugated.

    >>> taeda.array_api.vecdot(taeda.tensor([1, 2]), taeda.tensor([3, 4]))
    tensor(11)
    """
    first, second = pair(x1, x2)
    if axis >= 0:
        raise ValueError(f"vecdot: wanted an axis counted from the end, got {axis}")
    return wide(lambda a, b: taeda.sum(a.conj() * b, axis, dtype=a.dtype), first, second)


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangular factor of positive definite matrices.

    >>> taeda.array_api.linalg.cholesky(taeda.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return _l.cholesky(x, upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The vector product along an axis of size 3.

    >>> taeda.array_api.linalg.cross(taeda.tensor([1, 0, 0]), taeda.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    return wide(lambda a, b: _l.cross(a, b, dim=axis), *pair(x1, x2))


def det(x: Tensor, /) -> Tensor:
    """Determinants.

    >>> taeda.array_api.linalg.det(taeda.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(-2.)
    """
    return _l.det(x)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Diagonals of the last two axes.

    >>> taeda.array_api.linalg.diagonal(taeda.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return taeda.diagonal(x, offset, -2, -1)


def eig(x: Tensor, /) -> EigResult:
    """Complex eigenvalues and right eigenvectors of square matrices.

    >>> taeda.array_api.linalg.eig(taeda.tensor([[2.0, 0.0], [0.0, 3.0]])).eigenvalues.real
    tensor([2., 3.])
    """
    return EigResult(*_l.eig(x))


def eigvals(x: Tensor, /) -> Tensor:
    """Complex eigenvalues of square matrices.

    >>> taeda.array_api.linalg.eigvals(taeda.tensor([[2.0, 0.0], [0.0, 3.0]])).real
    tensor([2., 3.])
    """
    return _l.eigvals(x)


def eigh(x: Tensor, /) -> EighResult:
    """Eigenvalues and vectors of symmetric (Hermitian) matrices.

    >>> taeda.array_api.linalg.eigh(taeda.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    tensor([1., 3.])
    """
    return EighResult(*_l.eigh(x))


def eigvalsh(x: Tensor, /) -> Tensor:
    """Eigenvalues of symmetric (Hermitian) matrices.

    >>> taeda.array_api.linalg.eigvalsh(taeda.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    return _l.eigvalsh(x)


def inv(x: Tensor, /) -> Tensor:
    """Inverses.

    >>> taeda.array_api.linalg.inv(taeda.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return _l.inv(x)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Norms of matrices.

    >>> taeda.array_api.linalg.matrix_norm(taeda.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor(5.)
    """
    return _l.matrix_norm(x, ord, keepdim=keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Powers of matrices.

    >>> taeda.array_api.linalg.matrix_power(taeda.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    return _l.matrix_power(x, n)


def matrix_rank(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """How many singular values are above rtol times the largest.

    >>> taeda.array_api.linalg.matrix_rank(taeda.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    return _l.matrix_rank(x, rtol=rtol)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """All products of the elements of two vectors.

    >>> taeda.array_api.linalg.outer(taeda.tensor([1, 2]), taeda.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
    """
    return wide(taeda.outer, *pair(x1, x2))


def pinv(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """Pseudo-inverses.

    >>> taeda.array_api.linalg.pinv(taeda.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return _l.pinv(x, rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> QRResult:
    """Orthogonal and triangular factors.

    >>> taeda.array_api.linalg.qr(taeda.ones(3, 2)).R.shape
    taeda.Size([2, 2])
    """
    return QRResult(*_l.qr(x, mode))


def slogdet(x: Tensor, /) -> SlogdetResult:
    """Signs and logarithms of determinants.

    >>> taeda.array_api.linalg.slogdet(taeda.tensor([[1.0, 0.0], [0.0, 1.0]])).logabsdet
    tensor(0.)
    """
    return SlogdetResult(*_l.slogdet(x))


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solution of x1 X = x2; x2 is a vector if it has one axis, else matrices.

    >>> a = taeda.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> taeda.array_api.linalg.solve(a, taeda.tensor([2.0, 4.0]))
    tensor([1., 1.])
    """
    first, second = pair(x1, x2)
    if second.ndim == 1:
        return _l.solve(first, second.expand(*first.shape[:-2], -1).unsqueeze(-1)).squeeze(-1)
    shape = taeda.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    return _l.solve(first.expand(*shape, -1, -1), second.expand(*shape, -1, -1))


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular vectors and values.

    >>> taeda.array_api.linalg.svd(taeda.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])
    """
    return SVDResult(*_l.svd(x, full_matrices))


def svdvals(x: Tensor, /) -> Tensor:
    """Singular values.

    >>> taeda.array_api.linalg.svdvals(taeda.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor([4., 3.])
    """
    return _l.svdvals(x)


def trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Sums of diagonals of the last two axes.

    >>> taeda.array_api.linalg.trace(taeda.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """
    kind = _total(x, dtype)
    inner = taeda.int64 if kind is taeda.uint64 else kind
    made = diagonal(x, offset=offset).sum(-1, dtype=inner)
    return made.view(taeda.uint64) if kind is taeda.uint64 else made


def vector_norm(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """Norms of vectors along axes, of all elements if None.

    >>> taeda.array_api.linalg.vector_norm(taeda.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if axis == ():
        return x.abs() if ord != 0 else (x != 0).to(x.abs().dtype)
    return _l.vector_norm(x, ord, axis, keepdims)
