"""Finding, sorting, choosing."""

from __future__ import annotations

from typing import Any, NamedTuple

import taeda
from taeda import Tensor

from ._common import Axis, axes_of, pair

__all__ = [
    "argmax", "argmin", "argsort", "count_nonzero", "isin", "nonzero", "searchsorted", "sort",
    "take", "take_along_axis", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip


def _place(name: str, x: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    if axis is None:
        found = getattr(taeda, name)(x.flatten())
        return found.reshape((1,) * x.ndim) if keepdims else found
    return getattr(taeda, name)(x, axes_of(x, axis)[0], keepdims)


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the largest element is along an axis; in the flattened array if None.

    >>> taeda.array_api.argmax(taeda.tensor([[1, 5], [4, 2]]), axis=1)
    tensor([1, 0])
    """
    return _place("argmax", x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the smallest element is along an axis; in the flattened array if None.

    >>> taeda.array_api.argmin(taeda.tensor([[1, 5], [4, 2]]), axis=1)
    tensor([0, 1])
    """
    return _place("argmin", x, axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many elements along axes are other than 0.

    >>> taeda.array_api.count_nonzero(taeda.tensor([[0, 2], [3, 4]]), axis=1)
    tensor([1, 2])
    """
    axes, there = axes_of(x, axis), (x != 0).to(taeda.int64)
    return taeda.sum(there, axes, keepdims) if axes else there


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 is among those of x2; the other way round with `invert`.
    One of them may be a number.

    >>> taeda.array_api.isin(taeda.tensor([1, 2, 3]), taeda.tensor([2, 4]))
    tensor([False,  True, False])
    """
    first, second = pair(x1, x2)
    if first.dtype.is_complex:  # complex numbers have no order to search in
        found = (first.unsqueeze(-1) == second.flatten()).any(-1)
        return ~found if invert else found
    return taeda.isin(first, second, invert=invert)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Coordinates of elements other than 0. ValueError for an array without axes.

    >>> taeda.array_api.nonzero(taeda.tensor([[0, 2], [3, 0]]))
    (tensor([0, 1]), tensor([1, 0]))
    """
    if x.ndim == 0:
        raise ValueError("nonzero: an array without axes has no coordinates")
    return tuple(taeda.where(x))


def searchsorted(
    x1: Tensor, x2: Any, /, *, side: str = "left", sorter: Tensor | None = None
) -> Tensor:
    """Where elements of x2 would be put into x1 so that it stays in order.

    >>> taeda.array_api.searchsorted(taeda.tensor([1, 3, 5]), taeda.tensor([2, 6]))
    tensor([1, 3])
    """
    first, second = pair(x1, x2)
    return taeda.searchsorted(first, second, side=side, sorter=sorter)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """x1 where the condition holds, else x2.

    >>> condition = taeda.tensor([True, False])
    >>> taeda.array_api.where(condition, taeda.tensor([1, 2]), taeda.tensor([3, 4]))
    tensor([1, 4])
    """
    return taeda.where(condition, *pair(x1, x2))


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """In order along an axis.

    >>> taeda.array_api.sort(taeda.tensor([3, 1, 2]), descending=True)
    tensor([3, 2, 1])
    """
    return taeda.sort(x, stable=stable, dim=axis, descending=descending).values


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """The places of the elements in order along an axis.

    >>> taeda.array_api.argsort(taeda.tensor([3, 1, 2]))
    tensor([1, 2, 0])
    """
    return taeda.sort(x, stable=stable, dim=axis, descending=descending).indices


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Parts of x along an axis, by their places.

    >>> taeda.array_api.take(taeda.tensor([5, 6, 7]), taeda.tensor([2, 0]))
    tensor([7, 5])
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: an array of {x.ndim} axes needs an axis")
        axis = 0
    axis = axes_of(x, axis)[0]
    if indices.ndim > 1:
        raise ValueError(f"take: wanted indices of one axis, got {indices.ndim}")
    return x[(slice(None),) * axis + (indices.reshape(-1),)]


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """For every place of `indices` the element of x there along an axis; other axes broadcast.

    >>> x = taeda.tensor([[5, 6], [7, 8]])
    >>> taeda.array_api.take_along_axis(x, taeda.tensor([[1], [0]]))
    tensor([[6],
            [7]])
    """
    axis = axes_of(x, axis)[0]
    wide = list(
        taeda.broadcast_shapes(
            [*x.shape[:axis], 1, *x.shape[axis + 1 :]],
            [*indices.shape[:axis], 1, *indices.shape[axis + 1 :]],
        )
    )
    wide[axis] = x.shape[axis]
    x = x.expand(wide)
    wide[axis] = indices.shape[axis]
    places = indices.to(taeda.int64).expand(wide)
    places = taeda.where(places < 0, places + x.shape[axis], places)
    return taeda.gather(x, axis, places)


# ---- different values, in order ----


class UniqueAll(NamedTuple):
    """Values, the first place of each, the value of each element by its number, and how often each
    is there.
    """

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Values, and how often each is there."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Values, and the value of each element by its number."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> UniqueAll:
    """The different values with their first places, numbers and counts. Each NaN is a value of its own.

    >>> taeda.array_api.unique_all(taeda.tensor([3, 1, 3])).counts
    tensor([1, 2])
    """
    values, inverse, counts = taeda.unique(x, return_inverse=True, return_counts=True)
    flat = inverse.flatten()
    places = taeda.arange(flat.numel(), device=x.device)
    first = taeda.full((values.numel(),), flat.numel(), device=x.device)
    first = first.scatter_reduce(0, flat, places, "amin")
    return UniqueAll(values, first, inverse.reshape(x.shape), counts)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The different values, and how often each is there.

    >>> taeda.array_api.unique_counts(taeda.tensor([3, 1, 3])).values
    tensor([1, 3])
    """
    values, counts = taeda.unique(x, return_counts=True)
    return UniqueCounts(values, counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The different values, and the value of each element by its number.

    >>> taeda.array_api.unique_inverse(taeda.tensor([3, 1, 3])).inverse_indices
    tensor([1, 0, 1])
    """
    values, inverse = taeda.unique(x, return_inverse=True)
    return UniqueInverse(values, inverse.reshape(x.shape))


def unique_values(x: Tensor, /) -> Tensor:
    """The different values.

    >>> taeda.array_api.unique_values(taeda.tensor([3, 1, 3]))
    tensor([1, 3])
    """
    made: Any = taeda.unique(x)
    return made
