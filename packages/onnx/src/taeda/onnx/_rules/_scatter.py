"""Tensors with other numbers at some places."""

from __future__ import annotations

from typing import Any

import taeda

from .._context import Context, Value
from ._indexing import _broadcast, places_of
from ._registry import rule


def _along(ctx: Context, index: Value, dim: int, like: Value) -> Value:
    """A vector of places along `dim`, the same for all else, of the sizes of `like`."""
    sizes = [1] * like.rank
    sizes[dim] = -1
    return ctx.op("Expand", ctx.reshape(index, sizes), ctx.shape(like), rank=like.rank)


def _rows(row: str, how: str) -> None:
    @rule(row, fresh=True)
    def apply(
        ctx: Context, x: Value, dim: int, index: Value, source: Value, *, alpha: Any = 1
    ) -> Value:
        if not x.rank:
            raise ctx.refuse("a tensor without dimensions: give it one by reshape(1)")
        axis = dim % x.rank
        if alpha != 1:
            source = ctx.op("Mul", source, ctx.number(alpha, source.dtype))
        places = _along(ctx, ctx.cast(index, taeda.int64), axis, source)
        return ctx.op("ScatterElements", x, places, source, axis=axis, reduction=how)


_rows("index_add", "add")
_rows("index_copy", "none")


@rule("index_fill.int_Scalar", fresh=True)
def _index_fill(ctx: Context, x: Value, dim: int, index: Value, value: Any) -> Value:
    axis = dim % x.rank
    sizes = [ctx.size(x, d) for d in range(x.rank)]
    sizes[axis] = ctx.size(index, 0) if index.rank else 1
    filled = ctx.op("Expand", ctx.tensor(value, x.dtype), ctx.integers(sizes), rank=x.rank)
    places = _along(ctx, ctx.cast(index, taeda.int64), axis, filled)
    return ctx.op("ScatterElements", x, places, filled, axis=axis)


_REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}


@rule("scatter_reduce.two", fresh=True)
def _scatter_reduce(
    ctx: Context,
    x: Value,
    dim: int,
    index: Value,
    src: Value,
    reduce: str,
    *,
    include_self: bool = True,
) -> Value:
    how = _REDUCTIONS.get(reduce)
    if how is None or not include_self or not x.rank:
        raise ctx.refuse("reduce is sum, prod, amax or amin, with what is there included")
    if ctx.opset < 18 and how in ("max", "min"):
        raise ctx.refuse(f"{reduce} of what is scattered has an operator from opset 18 on")
    zeros, axes = (ctx.integers(v) for v in ([0] * index.rank, list(range(index.rank))))
    part = ctx.op("Slice", src, zeros, ctx.shape(index), axes)
    return ctx.op("ScatterElements", x, index, part, axis=dim % x.rank, reduction=how)


@rule("index_put", "index_put_", fresh=True)
def _index_put(
    ctx: Context, x: Value, indices: list[Value | None], values: Value, accumulate: bool = False
) -> Value:
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    if any(i.dtype in (taeda.bool, taeda.uint8) for _, i in given):
        if len(given) == 1 and given[0][0] == 0 and (not values.rank or values.sizes == (1,)):
            return _by_mask(ctx, x, given[0][1], values, accumulate)
        vectors = [p for i in indices for p in places_of(ctx, i)]
        return _index_put(ctx, x, vectors, values, accumulate)
    dims = [d for d, _ in given]
    order = [*dims, *(d for d in range(x.rank) if d not in dims)]
    if dims != list(range(dims[0], dims[0] + len(dims))):
        raise ctx.refuse("index tensors with whole dimensions between them")
    rank = max(i.rank for _, i in given)
    common = ctx.shape(given[0][1])
    for _, other in given[1:]:
        common = _broadcast(ctx, common, ctx.shape(other))
    spread = [ctx.op("Expand", ctx.cast(i, taeda.int64), common, rank=rank) for _, i in given]
    last = ctx.integers([rank])
    columns = [ctx.op("Unsqueeze", i, last, rank=rank + 1) for i in spread]
    places = ctx.op("Concat", *columns, axis=rank)
    before = list(range(dims[0]))  # whole dimensions in front: they come behind the places in ONNX
    behind = list(range(dims[-1] + 1, x.rank))
    sizes = [[ctx.size(x, d) for d in some] for some in (before, behind)]
    parts = [ctx.integers(some) for some in sizes if some]
    parts.insert(1 if before else 0, common)
    goal = parts[0] if len(parts) == 1 else ctx.op("Concat", *parts, axis=0)
    wide = ctx.op("Expand", ctx.cast(values, x.dtype), goal, rank=rank + x.rank - len(dims))
    if before:
        first = len(before)
        turn = [*range(first, first + rank), *range(first), *range(first + rank, wide.rank)]
        wide, turned = ctx.op("Transpose", wide, perm=turn), ctx.op("Transpose", x, perm=order)
    else:
        turned = x
    made = ctx.op("ScatterND", turned, places, wide, reduction="add" if accumulate else "none")
    if not before:
        return made
    return ctx.op("Transpose", made, perm=[order.index(d) for d in range(x.rank)])


def _by_mask(ctx: Context, x: Value, given: Value, values: Value, accumulate: bool) -> Value:
    """One number at all places of a mask."""
    mask = ctx.cast(given, taeda.bool)
    if mask.rank < x.rank:
        axes = ctx.integers(list(range(mask.rank, x.rank)))
        mask = ctx.op("Unsqueeze", mask, axes, rank=x.rank)
    value = ctx.cast(values, x.dtype)
    if accumulate:
        value = ctx.op("Add", x, value)
    return ctx.op("Where", mask, value, x, dtype=x.dtype, rank=x.rank)


# ---- parts in place of parts ----


@rule("select_scatter", fresh=True)
def _select_scatter(ctx: Context, x: Value, src: Value, dim: int, index: Any) -> Value:
    axis = dim % x.rank
    part = ctx.op("Unsqueeze", ctx.cast(src, x.dtype), ctx.integers([axis]), rank=x.rank)
    place = ctx.tensor(index, taeda.int64)
    places = _along(ctx, ctx.reshape(place, [1]), axis, part)
    return ctx.op("ScatterElements", x, places, part, axis=axis)


@rule("slice_scatter", fresh=True)
def _slice_scatter(
    ctx: Context,
    x: Value,
    src: Value,
    dim: int = 0,
    start: Any = None,
    end: Any = None,
    step: int = 1,
) -> Value:
    axis = dim % x.rank
    size = ctx.tensor(ctx.size(x, axis), taeda.int64)
    every = ctx.op("Range", ctx.number(0, taeda.int64), size, ctx.number(1, taeda.int64), rank=1)
    first = 0 if start is None else start
    last = (1 << 63) - 1 if end is None else end
    ends = (ctx.integers([n]) for n in (first, last, 0, step))
    chosen = ctx.op("Slice", every, *ends)
    places = _along(ctx, chosen, axis, src)
    return ctx.op("ScatterElements", x, places, ctx.cast(src, x.dtype), axis=axis)


@rule("take", fresh=True)
def _take(ctx: Context, x: Value, index: Value) -> Value:
    return ctx.op("Gather", ctx.reshape(x, [-1]), index, axis=0, rank=index.rank)


@rule("copy_", fresh=True)
def _copy(ctx: Context, x: Value, src: Value, non_blocking: bool = False) -> Value:
    return ctx.op("Expand", ctx.cast(src, x.dtype), ctx.shape(x), rank=x.rank)


@rule("fill.Scalar", "fill_.Scalar", fresh=True)
def _fill(ctx: Context, x: Value, value: Any) -> Value:
    return ctx.op("Expand", ctx.tensor(value, x.dtype), ctx.shape(x), rank=x.rank)


@rule("zero_", fresh=True)
def _zero(ctx: Context, x: Value) -> Value:
    return _fill(ctx, x, 0)
