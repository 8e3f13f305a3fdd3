"""Sums, means, extremes, sorts and scans: dimensions are counted behind the samples."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._batched import Level, rank
from ._registry import Decline, dims_of, rule

__all__ = ["own_dims", "with_dimension"]


def with_dimension(level: Level, x: Any) -> tuple[Any, int, bool]:
    """(all samples with at least one dimension each, a sample's rank, whether that dimension was added)."""
    if not level.on(x):
        raise Decline
    value, own = x._value, rank(x)
    return (value, own, False) if own else (value.unsqueeze(-1), 1, True)


def own_dims(dim: Any, own: int) -> Any:
    """A dimension, or several, of the sample as dimensions of all samples."""
    if isinstance(dim, (tuple, list)):
        return [dims_of(d, own) + 1 for d in dim]
    return dims_of(dim, own) + 1


def _reduce(level: Level, func: Any, x: Any, dim: Any, keepdim: bool, kwargs: Any) -> Any:
    """Over some dimensions, or all of them."""
    value, own, added = with_dimension(level, x)
    everything = dim is None or (isinstance(dim, (tuple, list)) and not dim)
    dims = list(range(1, own + 1)) if everything else own_dims(dim, own)
    return func(value, dims, keepdim and not added, **kwargs)


@rule(
    "sum",
    "mean",
    "nansum",
    "nanmean",
    "amax",
    "amin",
    "logsumexp",
    "special.logsumexp",
    "count_nonzero",
)
def _several(
    level: Level, func: Any, x: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any
) -> Any:
    if kwargs.keys() - {"dtype"} or type(keepdim) is not bool:
        raise Decline
    if func.__name__ == "count_nonzero":
        return _reduce(level, lambda v, d, k: func(v, d), x, dim, False, {})
    return _reduce(level, func, x, dim, keepdim, kwargs)


@rule("any", "all", "prod", "argmax", "argmin", "max", "min", "median", "nanmedian")
def _one(
    level: Level, func: Any, x: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any
) -> Any:
    name = func.__name__
    if isinstance(dim, Tensor):
        return level.value(taeda.maximum(x, dim) if name == "max" else taeda.minimum(x, dim))
    if isinstance(dim, (tuple, list)) or kwargs.keys() - {"dtype"}:
        raise Decline
    value, own, added = with_dimension(level, x)
    if dim is not None:
        return func(value, own_dims(dim, own), keepdim and not added, **kwargs)
    if not x.numel():
        raise Decline  # of nothing, as opposed to along a dimension without elements
    made = func(value.flatten(1), 1, **kwargs)
    if name in ("max", "min", "median", "nanmedian"):
        made = made[0]
    return made.reshape(level.size, *[1] * own) if keepdim and not added else made


@rule("var", "std", "var_mean", "std_mean")
def _spread(
    level: Level,
    func: Any,
    x: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: Any = None,
    *,
    correction: Any = None,
) -> Any:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    count = correction if correction is not None else 0 if unbiased is False else 1

    def run(value: Any, dims: Any, keep: bool) -> Any:
        return func(value, dim=dims, correction=count, keepdim=keep)

    return _reduce(level, run, x, dim, bool(keepdim), {})


@rule("norm", "linalg.vector_norm", "linalg.norm")
def _norm(
    level: Level,
    func: Any,
    x: Any,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    p: Any = None,
    dtype: Any = None,
) -> Any:
    order = p if p is not None else ord
    if order == "fro":
        order = 2
    single = dim is None or isinstance(dim, int) or len(dim) == 1
    plain = order is None or (isinstance(order, (int, float)) and single)
    own_rank = rank(x)
    if (
        func.__name__ == "norm"
        and isinstance(order, (int, float))
        and dim is None
        and own_rank == 2
    ):
        matrix = level.on(x) and _is_linalg(func)
        if matrix:
            raise Decline  # a norm of matrices
    if not plain or isinstance(order, str):
        raise Decline

    def run(value: Any, dims: Any, keep: bool) -> Any:
        return taeda.linalg.vector_norm(
            value, 2 if order is None else order, dims, keep, dtype=dtype
        )

    return _reduce(level, run, x, dim, keepdim, {})


@rule("frobenius_norm")
def _frobenius_norm(level: Level, func: Any, x: Any, dim: Any, keepdim: bool = False) -> Any:
    def run(value: Any, dims: Any, keep: bool) -> Any:
        return taeda.linalg.vector_norm(value, 2, dims, keep)

    return _reduce(level, run, x, dim, keepdim, {})


def _is_linalg(func: Any) -> bool:
    from ._registry import key_of

    return key_of(func).startswith("linalg.")


@rule(
    *(
        "softmax",
        "log_softmax",
        "cumsum",
        "cumprod",
        "logcumsumexp",
        "cummax",
        "cummin",
        "special.softmax",
        "special.log_softmax",
    ),
    *("mode", "softmin"),
)
def _along(level: Level, func: Any, x: Any, dim: Any = None, *args: Any, **kwargs: Any) -> Any:
    if dim is None:
        raise Decline
    value, own, added = with_dimension(level, x)
    if func.__name__ == "mode" and added:
        raise Decline
    made = func(value, own_dims(dim, own), *args, **kwargs)
    return _dropped(made) if added else made


def _dropped(made: Any) -> Any:
    """The results without the dimension that was added."""
    if isinstance(made, Tensor):
        return made.squeeze(-1)
    parts = [part.squeeze(-1) for part in made]
    return type(made)(parts)


@rule("sort", "argsort")
def _sort(
    level: Level,
    func: Any,
    x: Any,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,
) -> Any:
    if isinstance(dim, bool):
        raise Decline
    value, own, added = with_dimension(level, x)
    made = func(value, dim=own_dims(dim, own), descending=descending, stable=stable)
    return _dropped(made) if added else made


@rule("topk", "kthvalue")
def _chosen(
    level: Level, func: Any, x: Any, k: Any, dim: int = -1, *args: Any, **kwargs: Any
) -> Any:
    value, own, added = with_dimension(level, x)
    if added:
        raise Decline
    return func(value, k, own_dims(dim, own), *args, **kwargs)


@rule("diff")
def _diff(level: Level, func: Any, x: Any, n: int = 1, dim: int = -1, **kwargs: Any) -> Any:
    if kwargs or rank(x) == 0:
        raise Decline
    return func(level.value(x), n, own_dims(dim, rank(x)))


@rule("trace")
def _trace(level: Level, func: Any, x: Any) -> Any:
    if rank(x) != 2:
        raise Decline
    return x._value.diagonal(0, 1, 2).sum(-1)


@rule("msort")
def _msort(level: Level, func: Any, x: Any) -> Any:
    if rank(x) == 0:
        raise Decline
    return x._value.sort(1)[0]
