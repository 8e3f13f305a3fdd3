"""Derivatives of linear algebra. Vectors of eigenvectors and singular vectors are fixed up to a
phase; a gradient is right for what does not depend on it, and infinite where values coincide.

Sources: Giles, An extended collection of matrix derivative results (2008); Golub and Pereyra (1973)
for the pseudoinverse; Boeddeker et al. (2017) for complex matrices.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._registry import forward, multilinear, not_differentiable, rule, rule_joint

Maybe = Tensor | None
solve, triangular = taeda.linalg.solve, taeda.linalg.solve_triangular


def _zero(t: Maybe, like: Tensor) -> Tensor:
    return taeda.zeros_like(like) if t is None else t


def _hermitian(x: Tensor) -> Tensor:
    return (x + x.mH) / 2


def _skew(x: Tensor) -> Tensor:
    return x - x.mH


# ---- factorizations ----


@rule_joint("_linalg_cholesky", differentiable_results=1)
def _cholesky(grads: tuple[Maybe, ...], upper: bool, result0: Tensor) -> tuple[Maybe]:
    g = grads[0]
    if g is None:
        return (None,)
    lower, g = (result0.mH, g.mH) if upper else (result0, g)
    below = (lower.mH @ g).tril()
    inner = below + below.tril(-1).mH
    half = triangular(lower.mH, inner, upper=True)
    return (triangular(lower, half, upper=False, left=False) / 2,)


@rule_joint("_linalg_lu", differentiable_results=1)
def _lu(grads: tuple[Maybe, ...], result0: Tensor, result1: Tensor) -> tuple[Maybe]:
    g = grads[0]
    if g is None:
        return (None,)
    m, n = result0.shape[-2:]
    k = min(m, n)
    first = result0.narrow(-2, 0, k).narrow(-1, 0, k)
    lower = first.tril(-1) + taeda.eye(k, dtype=g.dtype, device=g.device)
    upper = first.triu()
    corner = g.narrow(-2, 0, k).narrow(-1, 0, k)
    to_l, to_u = lower.mH @ corner.tril(-1), corner.triu() @ upper.mH
    if n > k:  # A = [A1 A2], U2 = L^-1 A2
        g2, u2 = g.narrow(-1, k, n - k), result0.narrow(-1, k, n - k)
        to_l = to_l - g2 @ u2.mH
    if m > k:  # L2 = A2 U^-1
        g2, l2 = g.narrow(-2, k, m - k), result0.narrow(-2, k, m - k)
        to_u = to_u - l2.mH @ g2
    inner = triangular(upper.mH, to_l.tril(-1) + to_u.triu(), upper=False, left=False)
    made = triangular(lower.mH, inner, upper=True, unitriangular=True)
    if n > k:
        made = taeda.cat([made, triangular(lower.mH, g2, upper=True, unitriangular=True)], -1)
    if m > k:
        made = taeda.cat([made, triangular(upper.mH, g2, upper=False, left=False)], -2)
    order = taeda._linalg_permutation(result1, m)
    place = order.argsort(-1).unsqueeze(-1).expand(made.shape)
    return (made.gather(-2, place),)


def _skew_share(w: Tensor) -> Tensor:
    """The gradient of a matrix whose skew-Hermitian share, by its lower triangle, has the gradient w."""
    below = (w - w.mH).tril(-1)
    if not w.is_complex():
        return below
    turns = w.diagonal(0, -2, -1).imag
    return below + taeda.diag_embed(taeda.complex(taeda.zeros_like(turns), turns))


@rule_joint("_linalg_qr")
def _qr(
    grads: tuple[Maybe, ...], A_shape: tuple[int, ...], mode: str, result0: Tensor, result1: Tensor
) -> tuple[Maybe]:
    q, r = result0, result1
    m, n = A_shape[-2:]
    if mode == "r":
        raise RuntimeError("linalg.qr: the derivative needs Q; use mode='reduced' instead of 'r'")
    if mode == "complete" and m > n:
        raise RuntimeError(
            "linalg.qr: no derivative for mode='complete' with more rows than columns"
        )
    if grads[0] is None and grads[1] is None:
        return (None,)
    # dR = Q^H dA - S R with a skew-Hermitian S, that of Q^H dA R^-1: what R alone asks for is never
    # multiplied by R and divided again, which a nearly singular R would not forgive
    to_q, to_r = _zero(grads[0], q), _zero(grads[1], r).triu()
    along = q.mH @ to_q
    turned = q @ _skew_share(along - to_r @ r.mH)
    if m > n:
        turned = turned + (to_q - q @ along)
    by_q = triangular(r.narrow(-1, 0, min(m, n)).mH, turned, upper=False, left=False)
    made = q @ to_r
    if m >= n:
        return (made + by_q,)
    return (taeda.cat([made.narrow(-1, 0, m) + by_q, made.narrow(-1, m, n - m)], -1),)


def _gaps(values: Tensor) -> Tensor:
    """values[j] - values[i], 1 on the diagonal."""
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
    return gaps + taeda.eye(values.size(-1), dtype=values.dtype, device=values.device)


@rule_joint("_linalg_eigh")
def _eigh(grads: tuple[Maybe, ...], result0: Tensor, result1: Tensor) -> tuple[Maybe]:
    v = result1
    if grads[0] is None and grads[1] is None:
        return (None,)
    inner = None
    if grads[1] is not None:
        turned = v.mH @ grads[1]
        inner = turned / _gaps(result0)
        inner = inner - taeda.diag_embed(inner.diagonal(0, -2, -1))
    if grads[0] is not None:
        values = taeda.diag_embed(grads[0]).to(v.dtype)
        inner = values if inner is None else inner + values
    return (_hermitian(v @ inner @ v.mH),)


@rule_joint("_linalg_eig")
def _eig(grads: tuple[Maybe, ...], A_dtype: Any, result0: Tensor, result1: Tensor) -> tuple[Maybe]:
    v = result1
    if grads[0] is None and grads[1] is None:
        return (None,)
    inner = None
    if grads[1] is not None:
        turned = v.mH @ grads[1]
        along = turned.diagonal(0, -2, -1).real.unsqueeze(-2)  # vectors keep their length
        inner = (turned - v.mH @ v * along) / _gaps(result0).conj()
        inner = inner - taeda.diag_embed(inner.diagonal(0, -2, -1))
    if grads[0] is not None:
        values = taeda.diag_embed(grads[0])
        inner = values if inner is None else inner + values
    made = solve(v.mH, inner @ v.mH)
    return (made if A_dtype.is_complex else made.real,)


@rule_joint("_linalg_svd")
def _svd(
    grads: tuple[Maybe, ...],
    A_shape: tuple[int, ...],
    result0: Tensor,
    result1: Tensor,
    result2: Tensor,
) -> tuple[Maybe]:
    m, n = A_shape[-2:]
    k = min(m, n)
    to_u, to_s, to_v = grads
    if to_u is None and to_s is None and to_v is None:
        return (None,)
    u, s, vh = result0.narrow(-1, 0, k), result1, result2.narrow(-2, 0, k)
    inner = None if to_s is None else taeda.diag_embed(to_s).to(u.dtype)
    if to_u is None and to_v is None:
        return (u @ inner @ vh,)
    squares = s * s
    gaps, column, row = _gaps(squares), s.unsqueeze(-1), s.unsqueeze(-2)
    extra: list[Tensor] = []
    if to_u is not None:
        to_u = to_u.narrow(-1, 0, k)
        turned = u.mH @ to_u
        part = _skew(turned) / gaps * row
        if turned.is_complex() and to_v is not None:
            phase = turned.diagonal(0, -2, -1).imag / s
            part = (
                part
                - taeda.diag_embed(part.diagonal(0, -2, -1))
                + taeda.diag_embed(taeda.complex(taeda.zeros_like(phase), phase))
            )
        inner = part if inner is None else inner + part
        if m > k:
            extra.append(((to_u - u @ turned) / row) @ vh)
    if to_v is not None:
        to_v = to_v.narrow(-2, 0, k)
        turned = to_v @ vh.mH
        part = _skew(turned.mH) / gaps * column
        part = part - taeda.diag_embed(part.diagonal(0, -2, -1))
        inner = part if inner is None else inner + part
        if n > k:
            extra.append((u / row) @ (to_v - turned @ vh))
    made = u @ inner @ vh
    for part in extra:
        made = made + part
    return (made,)


# ---- solutions ----


@rule_joint("_linalg_inv", differentiable_results=1)
def _inv(grads: tuple[Maybe, ...], result0: Tensor) -> tuple[Maybe]:
    g, x = grads[0], result0.mH
    return (None if g is None else -(x @ g @ x),)


@rule_joint("_linalg_solve", differentiable_results=1)
def _solve(
    grads: tuple[Maybe, ...], needs: tuple[bool, ...], A: Tensor, result0: Tensor
) -> tuple[Maybe, Maybe]:
    if grads[0] is None:
        return None, None
    to_b = taeda._linalg_solve(A.mH, grads[0])[0]
    return (-(to_b @ result0.mH) if needs[0] else None), to_b


@rule_joint("_linalg_triangular")
def _triangular(
    grad: Tensor,
    needs: tuple[bool, ...],
    A: Tensor,
    upper: bool,
    unitriangular: bool,
    result: Tensor,
) -> tuple[Maybe, Maybe]:
    to_b = taeda._linalg_triangular(A.mH, grad, not upper, unitriangular)
    if not needs[0]:
        return None, to_b
    to_a = -(to_b @ result.mH)
    offset = 1 if unitriangular else 0
    return (to_a.triu(offset) if upper else to_a.tril(-offset)), to_b


@rule_joint("_linalg_lu_solve")
def _lu_solve(
    grad: Tensor,
    needs: tuple[bool, ...],
    LU: Tensor,
    pivots: Tensor,
    adjoint: bool,
    result: Tensor,
) -> tuple[Maybe, None, Maybe]:
    """With A = P L U, the solution solves L U X = P^T B; or, if adjoint, U^H L^H P^T X = B."""
    to_b = taeda._linalg_lu_solve(LU, pivots, grad, not adjoint)
    if not needs[0]:
        return None, None, to_b
    unit = LU.tril(-1) + taeda.eye(LU.size(-1), dtype=LU.dtype, device=LU.device)
    inner, outer = (to_b, result) if adjoint else (result, to_b)  # next to U, next to P
    order = taeda._linalg_permutation(pivots, LU.size(-1))
    place = order.unsqueeze(-1).expand(outer.shape)
    turned = outer.gather(-2, place)
    to_l = (turned @ (LU.triu() @ inner).mH).tril(-1)
    return -to_l - ((unit.mH @ turned) @ inner.mH).triu(), None, to_b


def _pinv(grad: Tensor, A: Tensor, result: Tensor) -> Tensor:
    p, ph, gh = result, result.mH, grad.mH
    left, right = gh @ p, p @ gh
    made = -(ph @ grad @ ph)
    made = made + (left - A @ (p @ left)) @ ph
    return made + ph @ (right - (right @ p) @ A)


rule("_linalg_pinv", A=_pinv)


@rule_joint("_linalg_lstsq", differentiable_results=1)
def _lstsq(
    grads: tuple[Maybe, ...], needs: tuple[bool, ...], A: Tensor, B: Tensor, rcond: float
) -> tuple[Maybe, Maybe]:
    """The solution is the pseudoinverse times B."""
    if grads[0] is None:
        return None, None
    inverse = taeda.linalg.pinv(A, rtol=rcond)
    to_a = _pinv(grads[0] @ B.mH, A, inverse) if needs[0] else None
    return to_a, inverse.mH @ grads[0]


# ---- determinants ----


def _det(grad: Tensor, A: Tensor, result: Tensor) -> Tensor:
    """The cofactors: determinant times inverse, by singular vectors where there is none."""
    if A.size(-1) == 0:
        return taeda.zeros_like(A)
    if bool((result.detach() != 0).all()) and bool((taeda._linalg_inv(A.detach())[1] == 0).all()):
        inverse = taeda._linalg_inv(A)[0].mH
        return (grad * result.conj()).unsqueeze(-1).unsqueeze(-1) * inverse
    u, s, vh = taeda._linalg_svd(A, True, True)
    n = s.size(-1)
    masked = s.unsqueeze(-2).expand(*s.shape, n) * (
        1 - taeda.eye(n, dtype=s.dtype, device=s.device)
    )
    others = (masked + taeda.eye(n, dtype=s.dtype, device=s.device)).prod(-1).to(A.dtype)
    turn = taeda._linalg_det(u) * taeda._linalg_det(vh)
    return (grad * turn).unsqueeze(-1).unsqueeze(-1) * ((u * others.unsqueeze(-2)) @ vh)


rule("_linalg_det", A=_det)


@rule_joint("_linalg_slogdet")
def _slogdet(grads: tuple[Maybe, ...], A: Tensor, result0: Tensor, result1: Tensor) -> tuple[Maybe]:
    to_sign, to_size = grads
    share = taeda.zeros_like(result1) if to_size is None else to_size
    if A.is_complex() and to_sign is not None:
        turn = (to_sign * result0.conj()).imag
        share = taeda.complex(share, turn)
    elif to_size is None:
        return (None,)
    return (share.unsqueeze(-1).unsqueeze(-1) * taeda._linalg_inv(A)[0].mH,)


# <a x b, g> is <a, b x g>, and <b, g x a>
rule(
    "cross.linalg",
    self=lambda grad, other, dim: taeda.linalg.cross(other.conj(), grad, dim=dim),
    other=lambda grad, self, dim: taeda.linalg.cross(grad, self.conj(), dim=dim),
)

LDL = "its factors have no derivative; use linalg.solve or linalg.cholesky, which have one"
not_differentiable("_linalg_ldl", LDL)
not_differentiable("_linalg_ldl_solve", LDL)
not_differentiable("_linalg_permutation", "returns places of rows")
not_differentiable("geqrf", "its reflections are a means; use linalg.qr, which has a derivative")

# ---- tangents of what is used most ----
multilinear("cross.linalg")


def _inv_forward(A_t: Tensor, result0: Tensor) -> tuple[Tensor, None]:
    return -(result0 @ A_t @ result0), None


def _solve_forward(A: Tensor, A_t: Maybe, B_t: Maybe, result0: Tensor) -> tuple[Tensor, None]:
    right = _zero(B_t, result0)
    return taeda._linalg_solve(A, right if A_t is None else right - A_t @ result0)[0], None


def _cholesky_forward(A_t: Tensor, upper: bool, result0: Tensor) -> tuple[Tensor, None]:
    """Of L^-1 dA L^-H the lower triangle, half its diagonal."""
    lower = result0.mH if upper else result0
    right = triangular(lower.mH, A_t, upper=True, left=False)
    inner = triangular(lower, right, upper=False).tril()
    made = lower @ (inner - taeda.diag_embed(inner.diagonal(0, -2, -1)) / 2)
    return made.mH if upper else made, None


def _eigh_forward(A_t: Tensor, result0: Tensor, result1: Tensor) -> tuple[Tensor, Tensor | None]:
    """The diagonal of V^H dA V moves the values, the rest turns the vectors."""
    if not result1.numel():
        return taeda.zeros_like(result0), None
    turned = result1.mH @ A_t @ result1
    along = turned.diagonal(0, -2, -1)
    turns = (turned - taeda.diag_embed(along)) / _gaps(result0)
    return along.real if along.is_complex() else along, result1 @ turns


forward("_linalg_cholesky", _cholesky_forward)
forward("_linalg_eigh", _eigh_forward)
forward("_linalg_inv", _inv_forward)
forward("_linalg_solve", _solve_forward)
