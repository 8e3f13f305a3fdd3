"""`taeda.lobpcg`: a few eigenpairs of a large symmetric matrix, by products with it alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import taeda

from .._layers.doors import asks, require_tensors
from .._native import core as _core

if TYPE_CHECKING:
    from taeda import Tensor
else:
    Tensor = _core.Tensor

__all__ = ["lobpcg"]


@asks
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Callable[[Any], None] | None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) eigenvalues of A x = λ B x, and their vectors, by a block method.

    The result is (values, vectors): of shapes (..., k) and (..., m, k), the first the largest, or the
    smallest. Values are differentiable by A and B, vectors are where B is None.

    Args:
        A: symmetric matrices of shape (..., m, m), float32 or float64, RuntimeError for others; a
            single one may be sparse.
        k: how many pairs are wanted, from 1 to n; None (the default) for the columns of X, or 1.
        B: symmetric positive definite matrices of A's shape; None (the default) for the identity.
        X: where to begin: linearly independent columns of shape (..., m, n); None (the default) for
            random ones.
        n: how many columns are iterated, at most m / 3, ValueError for more; None (the default) for
            those of X, or k.
        iK: a matrix near the inverse of A, which shortens the search; None (the default) for none.
        niter: the largest number of steps; None (the default) and negative ones for 1000.
        tol: the search ends when no residual A x - λ B x is longer than tol times the Frobenius norm
            of A; None (the default) for the square root of the dtype's eps.
        largest: False for the smallest eigenvalues; None (the default) and True for the largest.
        method: "ortho" or "basic", which compute the same here; None (the default) for "ortho".
            ValueError for others.
        tracker: None (the default): NotImplementedError for a function.
        ortho_iparams, ortho_fparams, ortho_bparams: None (the default) or empty: NotImplementedError
            for options of the orthogonalisation.

    Method: Knyazev, SIAM J. Sci. Comput. 23 (2001), 517-541.

    >>> values, vectors = lobpcg(taeda.diag(taeda.arange(1.0, 10.0)), k=2)
    >>> [round(v) for v in values.tolist()]
    [9, 8]
    """
    require_tensors("lobpcg", A=A)
    if method not in (None, "ortho", "basic"):
        raise ValueError(f"lobpcg: method is 'ortho' or 'basic', got {method!r}")
    if tracker is not None or ortho_iparams or ortho_fparams or ortho_bparams:
        raise NotImplementedError(
            "lobpcg: tracker and ortho_*params are not implemented; leave them out"
        )
    if A.dtype not in (taeda.float32, taeda.float64):
        raise RuntimeError(
            f"lobpcg: wanted A of float32 or float64, but got {A.dtype}; use taeda.linalg.eigh"
        )
    if A.dim() < 2 or A.size(-1) != A.size(-2):
        raise ValueError(f"lobpcg: A must be square, got shape {list(A.shape)}")
    m = A.size(-1)
    k = (1 if X is None else X.size(-1)) if k is None else k
    width = (k if X is None else X.size(-1)) if n is None else n
    if m < 3 * width:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than "
            "3 x the number of "
            f"requested eigenpairs (={width}); use taeda.linalg.eigh"
        )
    if not 1 <= k <= width:
        raise ValueError(f"lobpcg: wanted 1 <= k <= {width}, got {k}")
    sign = -1.0 if largest is False else 1.0
    if X is None:
        X = taeda.randn(*A.shape[:-1], width, dtype=A.dtype, device=A.device)
    limit = taeda.finfo(A.dtype).eps ** 0.5 if tol is None else tol
    steps = niter if niter is not None and niter >= 0 else 1000
    start, mass, guess = (None if t is None else t.detach() for t in (X, B, iK))
    assert start is not None  # made above
    vectors = _iterate(sign * A.detach(), mass, start[..., :width], guess, steps, limit)[..., :k]
    return _differentiable(A, B, vectors)


def _times(B: Tensor | None, x: Tensor) -> Tensor:
    return x if B is None else B @ x


def _orthonormal(S: Tensor, B: Tensor | None) -> Tensor:
    """A basis of the columns' span, orthonormal by B; columns that add nothing are dropped in the
    count of the whole batch.
    """
    norms = taeda.linalg.vector_norm(S, dim=-2, keepdim=True).clamp_min(taeda.finfo(S.dtype).tiny)
    S = S / norms
    values, turns = taeda.linalg.eigh(S.mT @ _times(B, S))
    floor = values[..., -1:] * (S.size(-1) * taeda.finfo(S.dtype).eps * 10)
    kept = int((values > floor).sum(-1).min())
    turns, values = turns[..., -kept:], values[..., -kept:]
    return S @ (turns * values.rsqrt().unsqueeze(-2))


def _ritz(A: Tensor, basis: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The largest eigenpairs of A within an orthonormal basis: values, and coordinates in the basis."""
    small = basis.mT @ (A @ basis)
    values, turns = taeda.linalg.eigh((small + small.mT) / 2)
    return values.flip(-1)[..., :width], turns.flip(-1)[..., :width]


def _iterate(
    A: Tensor, B: Tensor | None, X: Tensor, iK: Tensor | None, steps: int, tol: Any
) -> Tensor:
    width = X.size(-1)
    basis = _orthonormal(X, B)
    if basis.size(-1) < width:
        raise RuntimeError("lobpcg: the columns of X are linearly dependent")
    values, turns = _ritz(A, basis, width)
    X, P = basis @ turns, None
    size = taeda.linalg.matrix_norm(A) if A.layout is taeda.strided else A.norm()
    scale = size.clamp_min(taeda.finfo(A.dtype).tiny)
    for _ in range(steps):
        residual = A @ X - _times(B, X) * values.unsqueeze(-2)
        if bool((taeda.linalg.vector_norm(residual, dim=-2).amax(-1) <= tol * scale).all()):
            break
        W = residual if iK is None else iK @ residual
        parts = [W] if P is None else [W, P]
        further = taeda.cat(parts, -1)
        for _ in range(2):  # once more for what rounding leaves
            further = further - X @ (X.mT @ _times(B, further))
        further = _orthonormal(further, B)
        basis = taeda.cat([X, further], -1)
        values, turns = _ritz(A, basis, width)
        P = further @ turns[..., width:, :]
        X = _exactly(X @ turns[..., :width, :] + P, B)
    return X


def _exactly(X: Tensor, B: Tensor | None) -> Tensor:
    """Lengths of 1 by B."""
    return X * (X * _times(B, X)).sum(-2, keepdim=True).rsqrt()


def _differentiable(A: Tensor, B: Tensor | None, X: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues and vectors as functions of A and B: at an eigenvector every step of `_stepped` leaves the
    numbers as they are, and gives the vectors one order of derivatives more. Rayleigh's quotients, whose
    slope is 0 there, have twice as many.
    """
    watched = taeda.is_grad_enabled() or _core.is_forward_on()
    if watched and any(t is not None and _core.wants_derivative(t) for t in (A, B)):
        inverses = [_inverse(A.detach(), B, x) for x in X.split(1, -1)]
        for _ in range(_ORDERS):
            X = _stepped(A, B, X, inverses)
    return _quotients(A, B, X)[..., 0, :], X


_ORDERS = 2  # of derivatives of eigenvectors


def _quotients(A: Tensor, B: Tensor | None, X: Tensor) -> Tensor:
    """Rayleigh's, (..., 1, k)."""
    made: Tensor = (X * (A @ X)).sum(-2, True) / (X * _times(B, X)).sum(-2, True)
    return made


def _inverse(A: Tensor, B: Tensor | None, x: Tensor) -> Tensor:
    """That of λB - A, which takes x to 0, on what is orthogonal to x by B."""
    mass = None if B is None else B.detach()
    weighted = _times(mass, x)
    gap = (
        _quotients(A, mass, x) * _times(mass, taeda.eye(A.size(-1), dtype=A.dtype, device=A.device))
        - A
    )
    size = taeda.linalg.matrix_norm(gap)[..., None, None] / (weighted * weighted).sum(
        (-2, -1), True
    )
    inverse: Tensor = taeda.linalg.inv(gap + size * (weighted @ weighted.mT))
    return inverse - x @ (weighted.mT @ inverse)


def _stepped(A: Tensor, B: Tensor | None, X: Tensor, inverses: list[Tensor]) -> Tensor:
    """One of Newton's steps, with the inverses of where it began."""
    rest = A @ X - _quotients(A, B, X) * _times(B, X)
    rest = rest - rest.detach()  # what rounding left moves no number
    columns = [s @ r for s, r in zip(inverses, rest.split(1, -1), strict=True)]
    X = X + taeda.cat(columns, -1)
    lengths = (X * _times(B, X)).sum(-2, keepdim=True)
    return X * (lengths / lengths.detach()).rsqrt()
