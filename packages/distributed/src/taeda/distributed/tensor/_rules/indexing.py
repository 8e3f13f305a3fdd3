"""Rows that take and put by index: dimensions that no index names, and dimensions of the index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..placement_types import Partial, Placement, Replicate, Shard
from ._call import Call, Strategy, Value, rule

__all__ = ["taken"]

P, R = Partial(), Replicate()


@rule("gather")
def gathered(call: Call) -> Iterator[Strategy]:
    """Dimensions in which index and tensor are equally long; of an index of whole rows its own."""
    x, index, along = call["self"], call["index"], call.dim("dim")
    if index.ndim != x.ndim:
        return
    for dim in range(x.ndim):
        if dim == along:
            yield call.strategy({"index": Shard(dim)}, Shard(dim))
        elif index.shape[dim] == x.shape[dim]:
            yield call.strategy({"self": Shard(dim), "index": Shard(dim)}, Shard(dim))
    yield call.strategy({"self": P}, P)


@rule("scatter scatter_add scatter_reduce")
def scattered(call: Call) -> Iterator[Strategy]:
    """Dimensions in which all are equally long, but the one that is indexed."""
    x, along = call["self"], call.dim("dim")
    names = ["index", *(["src"] if call.has("src") else [])]
    if any(call[name].ndim != x.ndim for name in names):
        return
    for dim in range(x.ndim):
        if dim != along and all(call[name].shape[dim] == x.shape[dim] for name in names):
            yield call.strategy(
                {"self": Shard(dim), **dict.fromkeys(names, Shard(dim))}, Shard(dim)
            )
    if call.name == "scatter_add":
        yield call.strategy({"self": P, "src": P}, P)


@rule("index_select")
def taken(call: Call) -> Iterator[Strategy]:
    """Other dimensions, and the index."""
    x, along = call["self"], call.dim("dim")
    for dim in range(x.ndim):
        if dim != along:
            yield call.strategy({"self": Shard(dim)}, Shard(dim))
    if x.ndim and call["index"].ndim == 1:
        yield call.strategy({"index": Shard(0)}, Shard(along))
    yield call.strategy({"self": P}, P)


@rule("index_add index_copy index_fill index_reduce")
def put_rows(call: Call) -> Iterator[Strategy]:
    """Other dimensions."""
    x, along = call["self"], call.dim("dim")
    if call.has("source") and call["source"].ndim != x.ndim:
        return
    for dim in range(x.ndim):
        if dim != along:
            more = {"source": Shard(dim)} if call.has("source") else {}
            yield call.strategy({"self": Shard(dim), **more}, Shard(dim))
    if call.name == "index_add":
        yield call.strategy({"self": P, "source": P}, P)


def _places(call: Call) -> tuple[dict[int, int], int, tuple[int, ...]] | None:
    """Where the result has the dimensions that are not indexed, where the indexed ones begin, and
    the shape of the indices. None where they do not lie together, or an index has truth values.
    """
    x, indices = call["self"], call["indices"]
    named = [place for place, index in enumerate(indices) if index is not None]
    if not named or named != list(range(named[0], named[-1] + 1)):
        return None
    held = [indices[place] for place in named]
    if any(not isinstance(v, Value) or v.dtype.is_floating_point for v in held):
        return None
    if any(str(v.dtype).endswith(("bool", "uint8")) for v in held):
        return None
    shape: tuple[int, ...] = ()
    for value in held:
        shape = _broadcast(shape, value.shape)
    more = len(shape) - len(named)
    places = {d: d if d < named[0] else d + more for d in range(x.ndim) if d not in named}
    return places, named[0], shape


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    count = max(len(a), len(b))
    longer = [(1,) * (count - len(one)) + one for one in (a, b)]
    return tuple(y if x == 1 else x for x, y in zip(*longer, strict=True))


@rule("index.Tensor")
def index(call: Call) -> Iterator[Strategy]:
    """Dimensions that are not indexed, and those of the indices."""
    found = _places(call)
    if found is None:
        return
    places, first, shape = found
    for dim, place in places.items():
        yield call.strategy({"self": Shard(dim)}, Shard(place))
    for dim in range(len(shape)):
        ins: list[Placement | None] = [None if v.spec is None else R for v in call.values]
        for at in call.index["indices"]:
            value = call.values[at]
            own = dim - (len(shape) - value.ndim)
            if value.spec is not None and own >= 0 and value.shape[own] == shape[dim]:
                ins[at] = Shard(own)
        if any(isinstance(place, Shard) for place in ins) and _none_plain(call, dim, shape):
            yield Strategy(tuple(ins), (Shard(first + dim),))
    yield call.strategy({"self": P}, P)


def _none_plain(call: Call, dim: int, shape: tuple[int, ...]) -> bool:
    """No index that is the same on all ranks has this dimension of the indices."""
    for at in call.index["indices"]:
        value = call.values[at]
        own = dim - (len(shape) - value.ndim)
        if value.spec is None and own >= 0 and value.shape[own] != 1:
            return False
    return True


@rule("index_put")
def index_put(call: Call) -> Iterator[Strategy]:
    """Dimensions that are not indexed; terms, if values are added."""
    found = _places(call)
    if found is None:
        return
    places, _, shape = found
    x, values = call["self"], call["values"]
    count = len(places) + len(shape)
    whole = [0] * count
    for dim, place in places.items():
        whole[place] = x.shape[dim]
    for dim, place in places.items():
        at = place - (count - values.ndim)
        own: Any = Shard(at) if at >= 0 and values.shape[at] == whole[place] else R
        if own == R and at >= 0 and values.shape[at] != 1:
            continue
        yield call.strategy({"self": Shard(dim), "values": own}, Shard(dim))
    if call["accumulate"]:
        yield call.strategy({"self": P, "values": P}, P)
