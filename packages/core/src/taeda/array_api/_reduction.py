"""Sums, means, extremes and tests along axes."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._common import Axis, axes_of, kind_of, wide

__all__ = ["all", "any", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod",
    "std", "sum", "var"]  # fmt: skip


def _total(x: Tensor, dtype: Any) -> taeda.dtype:
    """The dtype in which elements add up."""
    if dtype is not None:
        return dtype
    kind = kind_of(x.dtype)
    wide = {"bool": taeda.int64, "signed integer": taeda.int64, "unsigned integer": taeda.uint64}
    return wide.get(kind, x.dtype)


def sum(x: Tensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum along axes, all of them if None; integers add up in 64 bits.

    >>> taeda.array_api.sum(taeda.tensor([[1, 2], [3, 4]]), axis=1)
    tensor([3, 7])
    """
    axes, kind = axes_of(x, axis), _total(x, dtype)
    if not axes:
        return x.to(kind, copy=True)
    if kind is taeda.uint64:  # two's complement: the sum of int64 has the same bits
        return taeda.sum(x.to(taeda.int64), axes, keepdims).view(taeda.uint64)
    return taeda.sum(x, axes, keepdims, dtype=kind)


def prod(x: Tensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The product along axes, all of them if None; integers multiply in 64 bits.

    >>> taeda.array_api.prod(taeda.tensor([[1, 2], [3, 4]]), axis=1)
    tensor([ 2, 12])
    """
    axes, kind = axes_of(x, axis), _total(x, dtype)
    inner = taeda.int64 if kind is taeda.uint64 else kind
    x = x.to(inner, copy=True)
    for a in sorted(axes, reverse=True):
        x = taeda.prod(x, a, keepdims)
    return x.view(taeda.uint64) if kind is taeda.uint64 else x


def _extreme(name: str, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    axes = axes_of(x, axis)
    return getattr(taeda, name)(x, axes, keepdims) if axes else x.clone()


def max(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest elements along axes.

    >>> taeda.array_api.max(taeda.tensor([[1, 5], [4, 2]]), axis=0)
    tensor([4, 5])
    """
    return _extreme("amax", x, axis, keepdims)


def min(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The smallest elements along axes.

    >>> taeda.array_api.min(taeda.tensor([[1, 5], [4, 2]]), axis=0)
    tensor([1, 2])
    """
    return _extreme("amin", x, axis, keepdims)


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The mean along axes.

    >>> taeda.array_api.mean(taeda.tensor([[1.0, 5.0], [4.0, 2.0]]), axis=0)
    tensor([2.5000, 3.5000])
    """
    axes = axes_of(x, axis)
    return taeda.mean(x, axes, keepdims) if axes else x.clone()


def var(
    x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The variance along axes, divided by the count less `correction`.

    >>> taeda.array_api.var(taeda.tensor([1.0, 3.0]))
    tensor(1.)
    """
    axes = axes_of(x, axis)
    if not axes:
        return taeda.zeros_like(x)
    return taeda.var(x, axes, correction=correction, keepdim=keepdims)


def std(
    x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The root of `var`.

    >>> taeda.array_api.std(taeda.tensor([1.0, 3.0]))
    tensor(1.)
    """
    return var(x, axis=axis, correction=correction, keepdims=keepdims).sqrt()


def _test(name: str, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    axes, x = axes_of(x, axis), x.to(taeda.bool)
    return getattr(taeda, name)(x, axes, keepdims) if axes else x.clone()


def all(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along axes are other than 0.

    >>> taeda.array_api.all(taeda.tensor([[True, False], [True, True]]), axis=1)
    tensor([False,  True])
    """
    return _test("all", x, axis, keepdims)


def any(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether some element along axes is other than 0.

    >>> taeda.array_api.any(taeda.tensor([[True, False], [False, False]]), axis=1)
    tensor([ True, False])
    """
    return _test("any", x, axis, keepdims)


def _cumulative(name: str, x: Tensor, axis: int | None, dtype: Any, initial: int | None) -> Tensor:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an array of {x.ndim} axes needs an axis")
        axis = 0
    axis = axes_of(x, axis)[0]
    kind = _total(x, dtype)
    inner = taeda.int64 if kind is taeda.uint64 else kind
    made = getattr(taeda, name)(x.to(inner), axis)
    if initial is not None:
        shape = [*x.shape]
        shape[axis] = 1
        made = taeda.cat([taeda.full(shape, initial, dtype=inner, device=x.device), made], axis)
    return made.view(taeda.uint64) if kind is taeda.uint64 else made


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Sums of the elements so far along an axis, with 0 before them if asked for.

    >>> taeda.array_api.cumulative_sum(taeda.tensor([1, 2, 3]))
    tensor([1, 3, 6])
    """
    return _cumulative("cumsum", x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Products of the elements so far along an axis, with 1 before them if asked for.

    >>> taeda.array_api.cumulative_prod(taeda.tensor([1, 2, 3]))
    tensor([1, 2, 6])
    """
    return _cumulative("cumprod", x, axis, dtype, 1 if include_initial else None)


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along an axis, n times.

    >>> taeda.array_api.diff(taeda.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    ends = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    return wide(
        lambda x, *e: taeda.diff(x, n, axis, **dict(zip(ends, e, strict=True))), x, *ends.values()
    )
