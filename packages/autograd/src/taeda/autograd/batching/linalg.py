"""Functions of matrices: leading dimensions are theirs anyway."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._batched import Level, rank
from ._registry import Decline, rule

__all__: list[str] = []

_ONE = """
    linalg.cholesky linalg.cholesky_ex linalg.inv linalg.inv_ex linalg.det linalg.slogdet
    linalg.eigh linalg.eigvalsh linalg.eig linalg.eigvals linalg.svd linalg.svdvals linalg.qr
    linalg.lu linalg.lu_factor linalg.lu_factor_ex linalg.matrix_exp linalg.matrix_power inverse det
    logdet slogdet matrix_exp matrix_power cholesky pinverse linalg.ldl_factor linalg.ldl_factor_ex
    qr svd cholesky_inverse
""".split()


@rule(*_ONE)
def _matrices(level: Level, func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if not level.on(x) or rank(x) < 2 or any(isinstance(a, Tensor) for a in args):
        raise Decline
    if "r" in args or kwargs.get("mode") == "r":
        raise Decline  # its Q is empty, whatever the batch
    return func(x._value, *args, **kwargs)


@rule("linalg.solve", "linalg.solve_triangular", "cholesky_solve", "linalg.solve_ex")
def _solve(level: Level, func: Any, a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    if rank(a) != rank(b) or rank(a) < 2:
        raise Decline
    if a.shape[-1] == 1 or kwargs.get("left") is False:
        raise Decline
    return func(level.full(a), level.full(b), *args, **kwargs)


@rule("linalg.cross", "cross")
def _cross(level: Level, func: Any, a: Any, b: Any, dim: Any = None) -> Any:
    from .reduction import own_dims

    if dim is None and func.__name__ == "cross" and rank(a) != 1:
        raise Decline
    if rank(a) != rank(b) or rank(a) == 0:
        raise Decline
    place = own_dims(-1 if dim is None else dim, rank(a))
    return taeda.linalg.cross(level.full(a), level.full(b), dim=place)


@rule("linalg.vecdot", "vdot")
def _vecdot(level: Level, func: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    if kwargs or rank(a) != rank(b) or rank(a) == 0:
        raise Decline
    if not (a.is_floating_point() or a.is_complex()):
        raise Decline
    if func.__name__ == "vdot" and a.shape != b.shape:
        raise Decline
    return taeda.linalg.vecdot(level.full(a), level.full(b))
