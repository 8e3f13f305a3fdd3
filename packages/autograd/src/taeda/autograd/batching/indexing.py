"""Elements by their places."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._batched import Level, rank
from ._registry import Decline, rule
from .reduction import own_dims

__all__: list[str] = []


def _plain_places(index: Any) -> tuple[Any, ...]:
    """An index as a tuple. Decline for what is more than numbers, slices, None, ... and tensors."""
    places = index if isinstance(index, tuple) else (index,)
    for place in places:
        if not isinstance(place, (int, slice, type(None), type(Ellipsis), Tensor)):
            raise Decline
    return places


def _places(level: Level, x: Any, index: Any) -> tuple[Any, ...]:
    """The index into all samples. Decline where the samples would not stay in front."""
    places = _plain_places(index)
    tensors = [p for p in places if isinstance(p, Tensor)]
    if not tensors:
        return (slice(None), *places)
    if any(p.dtype in (taeda.bool, taeda.uint8) for p in tensors):
        raise Decline
    spots = [
        i for i, p in enumerate(places) if isinstance(p, (Tensor, int)) and not isinstance(p, bool)
    ]
    together = spots == list(range(spots[0], spots[-1] + 1))
    mapped = any(level.on(p) for p in tensors)
    if not mapped:
        if not together:
            raise Decline
        return (slice(None), *places)
    if spots[0] != 0 or not together:
        raise Decline
    wide = max(rank(p) for p in tensors)
    first = taeda.arange(level.size, device=tensors[0].device).view(-1, *[1] * wide)
    return (first, *(level.padded(p, wide) if isinstance(p, Tensor) else p for p in places))


@rule("method.getitem")
def _getitem(level: Level, func: Any, x: Any, index: Any) -> Any:
    if not level.on(x):
        places = _plain_places(index)
        if len(places) == 1 and level.on(places[0]) and places[0].dtype != taeda.bool:
            return x[level.value(places[0])]
        raise Decline
    return x._value[_places(level, x, index)]


@rule("method.setitem")
def _setitem(level: Level, func: Any, x: Any, index: Any, value: Any) -> Any:
    places = _plain_places(index)
    if not level.on(x) or any(isinstance(p, Tensor) for p in places):
        raise Decline
    target = x._value[(slice(None), *places)]
    if isinstance(value, Tensor) and rank(value) > rank(target) - 1:
        raise Decline
    if level.on(value):
        value = level.padded(value, rank(target) - 1)
    x._value[(slice(None), *places)] = value


@rule("gather")
def _gather(level: Level, func: Any, x: Any, dim: Any, index: Any, **kwargs: Any) -> Any:
    if rank(x) == 0 or rank(index) != rank(x):
        raise Decline
    return func(level.full(x), own_dims(dim, rank(x)), level.full(index), **kwargs)


@rule("scatter", "scatter_add", "scatter_", "scatter_add_")
def _scatter(level: Level, func: Any, x: Any, dim: Any, index: Any, src: Any, **kwargs: Any) -> Any:
    if rank(x) == 0 or rank(index) != rank(x) or kwargs:
        raise Decline
    source = level.full(src) if isinstance(src, Tensor) and rank(src) else src
    if isinstance(source, Tensor) and rank(source) == 0:
        raise Decline
    whole = level.full(x) if level.on(x) or not func.__name__.endswith("_") else x
    return func(whole, own_dims(dim, rank(x)), level.full(index), source)


@rule("index_select")
def _index_select(level: Level, func: Any, x: Any, dim: Any, index: Any) -> Any:
    if rank(x) == 0 or rank(index) > 1:
        raise Decline
    if not level.on(index):
        return func(level.value(x), own_dims(dim, rank(x)), index)
    if rank(index) == 0:
        raise Decline
    place = own_dims(dim, rank(x))
    front = level.full(x).movedim(place, 1)
    return _rows(front, level.value(index)).movedim(1, place)


def _rows(tables: Any, places: Any) -> Any:
    """For each sample the rows of its own table; places count from its first one, and only those it has
    will do.
    """
    wide = places.long().reshape(*places.shape, *[1] * (rank(tables) - 2))
    return tables.gather(1, wide.expand(*places.shape, *tables.shape[2:]))


@rule("index_add", "index_copy", "index_fill", "index_add_", "index_copy_", "index_fill_")
def _index_write(
    level: Level, func: Any, x: Any, dim: Any, index: Any, *args: Any, **kwargs: Any
) -> Any:
    if rank(x) == 0 or level.on(index) or not level.on(x):
        raise Decline
    rest = [level.full(a) if isinstance(a, Tensor) and rank(a) else a for a in args]
    if any(isinstance(a, Tensor) and rank(a) == 0 for a in rest):
        raise Decline
    return func(x._value, own_dims(dim, rank(x)), index, *rest, **kwargs)


@rule("take_along_dim")
def _take_along(level: Level, func: Any, x: Any, indices: Any, dim: Any = None) -> Any:
    if dim is None or rank(x) != rank(indices) or rank(x) == 0:
        raise Decline
    return func(level.full(x), level.full(indices), own_dims(dim, rank(x)))


@rule("embedding")
def _embedding(
    level: Level, func: Any, weight: Any, indices: Any, padding_idx: int = -1, *args: Any
) -> Any:
    if not level.on(weight):
        return func(weight, level.value(indices), padding_idx, *args)
    if padding_idx != -1 or any(args) or rank(weight) != 2:
        raise Decline
    whole = level.full(indices)
    made = _rows(weight._value, whole.reshape(level.size, indices.numel()))
    return made.reshape(*whole.shape, weight.shape[1])


@rule("one_hot")
def _one_hot(level: Level, func: Any, x: Any, num_classes: int = -1) -> Any:
    if num_classes < 0:
        raise RuntimeError(
            "vmap: one_hot without num_classes has a shape that depends on the data: give num_classes"
        )
    return func(x._value, num_classes)
