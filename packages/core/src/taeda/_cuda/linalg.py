"""Factorizations by CuPy's cuSOLVER. A matrix without an inverse is known by a zero in the diagonal
of its factor, whose place is the number that the rows tell; where Cholesky's fails is found by
trying leading minors. LDL is not among them: CuPy has none.

CuPy factors one matrix at a time: of a stack the host goes from one to the next.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import product
from typing import Any

__all__ = ["ROWS"]


def _qr(cupy: Any, out: list[Any], a: Any, mode: str) -> None:
    if mode == "r":
        out[1][...] = cupy.linalg.qr(a, mode="r")
    else:
        out[0][...], out[1][...] = cupy.linalg.qr(a, mode=mode)


def _eigh(cupy: Any, out: list[Any], a: Any, uplo: str, vectors: bool) -> None:
    if vectors:
        out[0][...], out[1][...] = cupy.linalg.eigh(a, UPLO=uplo.upper())
    else:
        out[0][...] = cupy.linalg.eigvalsh(a, UPLO=uplo.upper())


def _svd(cupy: Any, out: list[Any], a: Any, full_matrices: bool, vectors: bool) -> None:
    made = cupy.linalg.svd(a, full_matrices=full_matrices, compute_uv=vectors)
    if vectors:
        out[0][...], out[1][...], out[2][...] = made
    else:
        out[1][...] = made


def _eig(cupy: Any, out: list[Any], a: Any, vectors: bool) -> None:
    general = getattr(cupy.linalg, "eig" if vectors else "eigvals", None)
    if general is None:
        raise NotImplementedError("general eigenvalues need a CuPy that has cupy.linalg.eig")
    if vectors:
        out[0][...], out[1][...] = general(a)
    else:
        out[0][...] = general(a)


def _geqrf(cupy: Any, out: list[Any], a: Any) -> None:
    for place in _places(a.shape[:-2]):
        raw, tau = cupy.linalg.qr(a[place], mode="raw")
        out[0][place], out[1][place] = cupy.swapaxes(raw, -1, -2), tau


def _lstsq(cupy: Any, out: list[Any], a: Any, b: Any, rcond: float, driver: str) -> None:
    """By singular values, whatever the driver: it says which results there are besides X."""
    u, s, vh = cupy.linalg.svd(a, full_matrices=False)
    counts = cupy.greater(s, cupy.multiply(s[..., :1], rcond))
    if driver == "gels":  # full rank is taken for granted
        counts = cupy.greater(s, 0)
    inverse = cupy.where(counts, cupy.reciprocal(cupy.where(counts, s, 1)), 0)
    sides = cupy.matmul(_turned(cupy, u), b)
    out[0][...] = cupy.matmul(_turned(cupy, vh), cupy.multiply(inverse[..., None], sides))
    known = cupy.sum(counts, axis=-1) if driver != "gels" else cupy.zeros(out[1].shape)
    out[1][...] = known.astype(out[1].dtype)
    out[2][...] = s if driver in ("gelsd", "gelss") else cupy.zeros(out[2].shape, out[2].dtype)


def _slogdet(cupy: Any, out: list[Any], a: Any) -> None:
    out[0][...], out[1][...] = cupy.linalg.slogdet(a)


def _det(cupy: Any, out: list[Any], a: Any) -> None:
    out[0][...] = cupy.linalg.det(a)


# ---- by LU ----


def _places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return product(*map(range, shape))


def _factors(cupy: Any, a: Any, info: Any) -> dict[tuple[int, ...], tuple[Any, Any]]:
    """The factors and exchanges of each matrix; `info` gets 1 + the place of a zero pivot, or 0."""
    factor = importlib.import_module("cupyx.scipy.linalg").lu_factor
    info[...] = cupy.zeros(info.shape, info.dtype)
    found = {}
    for place in _places(a.shape[:-2] if a.size else (0,)):
        found[place] = factor(a[place], check_finite=False)
        zero = cupy.equal(cupy.diagonal(found[place][0]), 0)
        info[place] = cupy.where(cupy.any(zero), cupy.add(cupy.argmax(zero), 1), 0)
    return found


def _lu(cupy: Any, out: list[Any], a: Any, pivot: bool) -> None:
    if not pivot:
        raise NotImplementedError("CuPy has no LU without exchanges of rows")
    for place, (factors, exchanges) in _factors(cupy, a, out[2]).items():
        out[0][place], out[1][place] = factors, cupy.add(exchanges, 1)


def _solve_each(
    cupy: Any, x: Any, factors: dict[tuple[int, ...], tuple[Any, Any]], b: Any, trans: int = 0
) -> None:
    """Each matrix of x by factors and right sides that broadcast."""
    solve = importlib.import_module("cupyx.scipy.linalg").lu_solve
    for place in _places(x.shape[:-2]):
        side = b[_within(place, b.shape[:-2])]
        rank = len(next(iter(factors)))
        sizes = [1 + max(key[k] for key in factors) for k in range(rank)]
        x[place] = solve(factors[_within(place, tuple(sizes))], side, trans, check_finite=False)


def _within(place: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Where a place of a broadcast stack is in one of this shape."""
    last = place[len(place) - len(shape) :]
    return tuple(k if size > 1 else 0 for k, size in zip(last, shape, strict=True))


def _inv(cupy: Any, out: list[Any], a: Any) -> None:
    _solve(cupy, out, a, cupy.eye(a.shape[-1], dtype=a.dtype))


def _solve(cupy: Any, out: list[Any], a: Any, b: Any) -> None:
    factors = _factors(cupy, a, out[1])
    if out[0].size:
        _solve_each(cupy, out[0], factors, b)


def _lu_solve(cupy: Any, out: list[Any], lu: Any, pivots: Any, b: Any, adjoint: bool) -> None:
    factors = {
        place: (lu[place], cupy.subtract(pivots[place], 1)) for place in _places(lu.shape[:-2])
    }
    _solve_each(cupy, out[0], factors, b, 2 if adjoint else 0)


def _permutation(cupy: Any, out: list[Any], pivots: Any, rows: int) -> None:
    """On the host: each exchange depends on the one before. Waits for the device."""
    exchanges = cupy.asnumpy(pivots)
    order = cupy.asnumpy(out[0])
    order[...] = range(rows)
    for place in _places(exchanges.shape[:-1]):
        for k, other in enumerate(exchanges[place]):
            order[place][[k, other - 1]] = order[place][[other - 1, k]]
    out[0][...] = cupy.asarray(order)


# ---- triangles and products ----


def _triangular(
    cupy: Any, out: list[Any], a: Any, b: Any, upper: bool, unitriangular: bool
) -> None:
    solve = importlib.import_module("cupyx.scipy.linalg").solve_triangular
    for place in _places(out[0].shape[:-2]):
        out[0][place] = solve(
            a[_within(place, a.shape[:-2])],
            b[_within(place, b.shape[:-2])],
            lower=not upper,
            unit_diagonal=unitriangular,
            check_finite=False,
        )


def _pinv(cupy: Any, out: list[Any], a: Any, u: Any, inverse: Any, vh: Any) -> None:
    scaled = cupy.multiply(cupy.swapaxes(cupy.conj(vh), -1, -2), inverse[..., None, :])
    out[0][...] = cupy.matmul(scaled, cupy.swapaxes(cupy.conj(u), -1, -2))


# ---- Cholesky ----


def _cholesky(cupy: Any, out: list[Any], a: Any, upper: bool) -> None:
    """Of a matrix that is not positive definite the factor is zero, and the number the order of the
    first leading minor that is not positive.
    """
    out[1][...] = cupy.zeros(out[1].shape, out[1].dtype)
    for place in _places(a.shape[:-2] if a.size else (0,)):
        whole = _turned(cupy, a[place]) if upper else a[place]
        factor = _factor(cupy, whole)
        if factor is None:
            out[1][place] = cupy.asarray(_first_failure(cupy, whole), out[1].dtype)
            factor = cupy.zeros(whole.shape, whole.dtype)
        out[0][place] = _turned(cupy, factor) if upper else factor


def _turned(cupy: Any, a: Any) -> Any:
    return cupy.conj(cupy.swapaxes(a, -1, -2))


def _factor(cupy: Any, a: Any) -> Any:
    """The lower factor, or None. Waits for the device."""
    with importlib.import_module("cupyx").errstate(linalg="raise"):
        try:
            return cupy.linalg.cholesky(a)
        except _linalg_error():
            return None


def _linalg_error() -> type[Exception]:
    error: type[Exception] = importlib.import_module("numpy.linalg").LinAlgError
    return error


def _first_failure(cupy: Any, a: Any) -> int:
    good, bad = 0, a.shape[-1]  # orders: of those up to `good` all are positive
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if _factor(cupy, a[:middle, :middle]) is None else (middle, bad)
    return bad


ROWS = {
    "_linalg_cholesky": _cholesky,
    "_linalg_permutation": _permutation,
    "_linalg_triangular": _triangular,
    "_linalg_pinv": _pinv,
    "_linalg_lu": _lu,
    "_linalg_inv": _inv,
    "_linalg_solve": _solve,
    "_linalg_lu_solve": _lu_solve,
    "_linalg_qr": _qr,
    "_linalg_eigh": _eigh,
    "_linalg_eig": _eig,
    "_linalg_lstsq": _lstsq,
    "geqrf": _geqrf,
    "_linalg_svd": _svd,
    "_linalg_slogdet": _slogdet,
    "_linalg_det": _det,
}
