"""Linear algebra by numpy, which calls LAPACK. What numpy lacks (LU, substitution) is vectorised over the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import taeda
from taeda import Tensor

Array = Any
REAL = {taeda.complex64: taeda.float32, taeda.complex128: taeda.float64}
COMPLEX = {taeda.float32: taeda.complex64, taeda.float64: taeda.complex128}


def _tensor(array: Array, dtype: Any = None) -> Tensor:
    made = taeda.from_numpy(np.array(array, order="C"))
    return made if dtype is None else made.to(dtype)


def _real(x: Tensor) -> Any:
    return REAL.get(x.dtype, x.dtype)


def _new(x: Tensor, *shape: int, dtype: Any = None) -> Tensor:
    """What a meta tensor, or one without elements, gets for a result."""
    return taeda.zeros(shape, dtype=dtype or x.dtype, device=x.device)


def _each(
    a: Array, function: Callable[[Array], Array], failed: Callable[[Array], int], fill: Array
) -> tuple[Array, Array]:
    """The function of a whole batch; where it fails, of matrix after matrix, with the failures' places."""
    info = np.zeros(a.shape[:-2], np.int32)
    try:
        return function(a), info
    except np.linalg.LinAlgError:
        made = np.array(fill)
    for place in np.ndindex(*a.shape[:-2]):
        try:
            made[place] = function(a[place])
        except np.linalg.LinAlgError:
            info[place] = failed(a[place])
    return made, info


# ---- factorizations ----


def _bad_minor(a: Array) -> int:
    for k in range(1, a.shape[-1] + 1):
        try:
            np.linalg.cholesky(a[:k, :k])
        except np.linalg.LinAlgError:
            return k
    return a.shape[-1]


def _linalg_cholesky(A: Tensor) -> tuple[Tensor, Tensor]:
    if A.is_meta or A.numel() == 0:
        return taeda.empty_like(A), _new(A, *A.shape[:-2], dtype=taeda.int32)
    a = A.numpy()
    made, info = _each(a, np.linalg.cholesky, _bad_minor, np.tril(a))
    return _tensor(made), _tensor(info)


def _size(x: Array) -> Array:
    """By which LAPACK chooses a pivot: of complex numbers not quite the magnitude."""
    return np.abs(x.real) + np.abs(x.imag)


def _eliminate(a: Array, pivot: bool) -> tuple[Array, Array, Array]:
    """(L and U in one, exchanges from 1, info) of a stack of matrices."""
    lu = np.array(a.reshape(-1, *a.shape[-2:]))
    count, m, n = lu.shape
    k = min(m, n)
    pivots, info, all_ = np.zeros((count, k), np.int32), np.zeros(count, np.int32), np.arange(count)
    for j in range(k):
        p = j + (_size(lu[:, j:, j]).argmax(1) if pivot else np.zeros(count, int))
        pivots[:, j] = p + 1
        rows = lu[all_, p].copy()
        lu[all_, p] = lu[:, j]
        lu[:, j] = rows
        head = lu[:, j, j]
        info = np.where((head == 0) & (info == 0), j + 1, info).astype(np.int32)
        lu[:, j + 1 :, j] /= np.where(head == 0, 1, head)[:, None]
        lu[:, j + 1 :, j + 1 :] -= lu[:, j + 1 :, j, None] * lu[:, None, j, j + 1 :]
    batch = a.shape[:-2]
    return lu.reshape(a.shape), pivots.reshape(*batch, k), info.reshape(batch)


def _linalg_lu(A: Tensor, pivot: bool) -> tuple[Tensor, Tensor, Tensor]:
    batch, k = A.shape[:-2], min(A.shape[-2:])
    if A.is_meta or A.numel() == 0:
        info = _new(A, *batch, dtype=taeda.int32)
        return taeda.empty_like(A), _new(A, *batch, k, dtype=taeda.int32), info
    lu, pivots, info = _eliminate(A.numpy(), pivot)
    return _tensor(lu), _tensor(pivots), _tensor(info)


def _linalg_permutation(pivots: Tensor, rows: int) -> Tensor:
    """Row i of P^T A is row result[i] of A."""
    if pivots.is_meta:
        return _new(pivots, *pivots.shape[:-1], rows, dtype=taeda.int64)
    if pivots.numel() == 0:
        return taeda.arange(rows).expand(*pivots.shape[:-1], rows).contiguous()
    p = pivots.numpy().reshape(-1, pivots.shape[-1])
    order, all_ = np.tile(np.arange(rows), (len(p), 1)), np.arange(len(p))
    for j in range(p.shape[1]):
        other = p[:, j] - 1
        swapped = order[all_, other].copy()
        order[all_, other] = order[:, j]
        order[:, j] = swapped
    return _tensor(order.reshape(*pivots.shape[:-1], rows))


def _linalg_qr(A: Tensor, mode: Any) -> tuple[Tensor, Tensor]:
    m, n = A.shape[-2:]
    batch, k = A.shape[:-2], m if mode == "complete" else min(m, n)
    if A.is_meta or A.numel() == 0:
        unit = taeda.eye(m, k, dtype=A.dtype, device=A.device).expand(*batch, m, k).contiguous()
        return (_new(A, 0) if mode == "r" else unit), _new(A, *batch, k, n)
    if mode == "r":
        return _new(A, 0), _tensor(np.linalg.qr(A.numpy(), "r"))
    q, r = np.linalg.qr(A.numpy(), mode)
    return _tensor(q), _tensor(r)


def geqrf(self: Tensor) -> tuple[Tensor, Tensor]:
    """Reflections below the diagonal, R on and above it."""
    if self.dim() < 2:
        raise RuntimeError(f"geqrf: input must have at least 2 dimensions, got {self.dim()}")
    k = min(self.shape[-2:])
    if self.is_meta or self.numel() == 0:
        return taeda.empty_like(self), _new(self, *self.shape[:-2], k)
    packed, tau = np.linalg.qr(self.numpy(), "raw")
    return _tensor(np.swapaxes(packed, -1, -2), self.dtype), _tensor(tau, self.dtype)


def _linalg_eigh(A: Tensor, UPLO: Any, vectors: bool) -> tuple[Tensor, Tensor]:
    if A.is_meta or A.numel() == 0:
        return _new(A, *A.shape[:-1], dtype=_real(A)), taeda.empty_like(A)
    if not vectors:
        return _tensor(np.linalg.eigvalsh(A.numpy(), UPLO.upper())), _new(A, 0)
    values, made = np.linalg.eigh(A.numpy(), UPLO.upper())
    return _tensor(values), _tensor(made)


def _linalg_eig(A: Tensor, vectors: bool) -> tuple[Tensor, Tensor]:
    dtype = COMPLEX.get(A.dtype, A.dtype)
    if A.is_meta or A.numel() == 0:
        return _new(A, *A.shape[:-1], dtype=dtype), taeda.empty_like(A, dtype=dtype)
    if not vectors:
        return _tensor(np.linalg.eigvals(A.numpy()), dtype), _new(A, 0, dtype=dtype)
    values, made = np.linalg.eig(A.numpy())
    return _tensor(values, dtype), _tensor(made, dtype)


def _linalg_svd(A: Tensor, full_matrices: bool, vectors: bool) -> tuple[Tensor, Tensor, Tensor]:
    m, n = A.shape[-2:]
    batch, k = A.shape[:-2], min(m, n)
    if A.is_meta or A.numel() == 0:
        left, right = (m, n) if full_matrices else (k, k)
        eye_m = taeda.eye(m, left, dtype=A.dtype, device=A.device).expand(*batch, m, left)
        eye_n = taeda.eye(right, n, dtype=A.dtype, device=A.device).expand(*batch, right, n)
        zeros = _new(A, *batch, k, dtype=_real(A))
        if not vectors:
            return _new(A, 0), zeros, _new(A, 0)
        return eye_m.contiguous(), zeros, eye_n.contiguous()
    try:
        if not vectors:
            return _new(A, 0), _tensor(np.linalg.svd(A.numpy(), compute_uv=False)), _new(A, 0)
        u, s, vh = np.linalg.svd(A.numpy(), full_matrices)
    except np.linalg.LinAlgError as error:
        raise taeda.linalg.LinAlgError(
            f"linalg.svd: The algorithm failed to converge: {error}"
        ) from None
    return _tensor(u), _tensor(s), _tensor(vh)


# ---- solutions ----


def _zero_pivot(a: Array) -> int:
    return int(_eliminate(a, True)[2]) or a.shape[-1]


def _linalg_inv(A: Tensor) -> tuple[Tensor, Tensor]:
    if A.is_meta or A.numel() == 0:
        return taeda.empty_like(A), _new(A, *A.shape[:-2], dtype=taeda.int32)
    a = A.numpy()
    made, info = _each(a, np.linalg.inv, _zero_pivot, np.full_like(a, np.nan))
    return _tensor(made), _tensor(info)


def _linalg_solve(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    batch = taeda.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    shape, info = (*batch, *B.shape[-2:]), _new(A, *A.shape[:-2], dtype=taeda.int32)
    if A.is_meta or A.numel() == 0 or B.numel() == 0:
        return _new(A, *shape), info
    try:
        return _tensor(np.linalg.solve(A.numpy(), B.numpy())), info
    except np.linalg.LinAlgError:
        inverse, info = _linalg_inv(A)
        return taeda.matmul(inverse, B), info


def _linalg_triangular(A: Tensor, B: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    batch = taeda.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    shape = (*batch, *B.shape[-2:])
    if A.is_meta or A.numel() == 0 or B.numel() == 0:
        return _new(B, *shape)
    a, x = A.numpy(), np.array(np.broadcast_to(B.numpy(), shape))
    rows = range(a.shape[-1])
    with np.errstate(all="ignore"):  # a zero on the diagonal gives infinities
        for i in reversed(rows) if upper else rows:
            known = slice(i + 1, None) if upper else slice(0, i)
            x[..., i, :] -= np.matmul(a[..., i : i + 1, known], x[..., known, :])[..., 0, :]
            if not unitriangular:
                x[..., i, :] /= a[..., i, i, None]
    return _tensor(x)


def _linalg_pinv(A: Tensor, cut: Tensor, hermitian: bool) -> Tensor:
    """The cut is one number for every matrix."""
    if A.is_meta or A.numel() == 0:
        return _new(A, *A.shape[:-2], A.shape[-1], A.shape[-2])
    if hermitian:
        values, u = np.linalg.eigh(A.numpy())
        size, vh = np.abs(values), np.swapaxes(u.conj(), -1, -2)
    else:
        u, values, vh = np.linalg.svd(A.numpy(), full_matrices=False)
        size = values
    keep = size > cut.numpy()[..., None]
    inverse = np.divide(1, values, out=np.zeros_like(values), where=keep)
    left = np.swapaxes(vh.conj(), -1, -2) * inverse[..., None, :]
    return _tensor(left @ np.swapaxes(u.conj(), -1, -2), A.dtype)


# ---- determinants ----


def _linalg_det(A: Tensor) -> Tensor:
    if A.is_meta:
        return _new(A, *A.shape[:-2])
    return _tensor(np.linalg.det(A.numpy()), A.dtype)


def _linalg_slogdet(A: Tensor) -> tuple[Tensor, Tensor]:
    if A.is_meta:
        return _new(A, *A.shape[:-2]), _new(A, *A.shape[:-2], dtype=_real(A))
    sign, size = np.linalg.slogdet(A.numpy())
    return _tensor(sign, A.dtype), _tensor(size, _real(A))
