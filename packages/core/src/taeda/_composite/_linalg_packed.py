"""What factorizations pack into one matrix: triangles, exchanges of rows, reflections."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda import dtype as Dtype

from ._linalg_checks import check_floating, check_matrix

__all__ = ["permutation", "reflections", "triangles"]

Pair = tuple[Tensor, Tensor]


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


def reflections(name: str, input: Tensor, tau: Tensor) -> Pair:
    """V and T of the product of all reflections I - tau v v^H, which is I - V T V^H.

    T is the inverse of D^-1 + the part of V^H V above its diagonal, with D the diagonal of tau
    (Joffrain et al., Accumulating Householder transformations, revisited, 2006); written so that a
    tau of 0 is no exception.
    """
    check_matrix(name, input, "input")
    m, n = input.shape[-2:]
    if tau.dim() != input.dim() - 1 or tau.size(-1) > n or tau.shape[:-1] != input.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected tau of shape (..., at most {n}) for input {list(input.shape)}, got "
            f"{list(tau.shape)}"
        )
    check_floating(name, input, tau)
    k = tau.size(-1)
    v = input.narrow(-1, 0, k).tril(-1) + taeda.eye(m, k, dtype=input.dtype, device=input.device)
    mixed = tau.unsqueeze(-1) * (v.mH @ v).triu(1)
    d = taeda.diag_embed(tau)
    return v, taeda.linalg.solve_triangular(mixed, d, upper=True, unitriangular=True)
