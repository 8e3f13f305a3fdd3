"""Numbers at places."""

from __future__ import annotations

from typing import Any

import taeda

from .._context import Context, Value
from ._registry import rule


@rule("gather", fresh=True)
def _gather(ctx: Context, x: Value, dim: int, index: Value, sparse_grad: bool = False) -> Value:
    if not x.rank:
        return ctx.op("Identity", x)
    return ctx.op("GatherElements", x, index, axis=dim % x.rank, rank=index.rank)


@rule("index_select", fresh=True)
def _index_select(ctx: Context, x: Value, dim: int, index: Value) -> Value:
    return ctx.op("Gather", x, index, axis=dim % x.rank)


@rule("index.Tensor", fresh=True)
def _index(ctx: Context, x: Value, indices: list[Value | None]) -> Value:
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    if any(i.dtype in (taeda.bool, taeda.uint8) for _, i in given):
        return _index(ctx, x, [k for i in indices for k in places_of(ctx, i)])
    if len(given) == 1:
        dim, index = given[0]
        return ctx.op("Gather", x, index, axis=dim, rank=len(ctx.sizes()))
    dims = [d for d, _ in given]
    if dims != list(range(dims[0], dims[0] + len(dims))):
        raise ctx.refuse("index tensors with whole dimensions between them")
    if dims[0]:  # GatherND begins at the first dimension
        return _behind(ctx, x, indices, dims)
    rank = max(i.rank for _, i in given)
    shapes = [ctx.shape(i) for _, i in given]
    common = shapes[0]
    for other in shapes[1:]:
        common = _broadcast(ctx, common, other)
    last = ctx.integers([rank])
    spread = [ctx.op("Expand", ctx.cast(i, taeda.int64), common, rank=rank) for _, i in given]
    columns = [ctx.op("Unsqueeze", i, last, rank=rank + 1) for i in spread]
    places = ctx.op("Concat", *columns, axis=rank)
    return ctx.op("GatherND", x, places, rank=len(ctx.sizes()))


def places_of(ctx: Context, index: Value | None) -> list[Value | None]:
    """An index, or the places where a mask holds: one vector for each of its dimensions."""
    if index is None or index.dtype not in (taeda.bool, taeda.uint8):
        return [index]
    found = ctx.op("NonZero", ctx.cast(index, taeda.bool), dtype=taeda.int64, rank=2)
    vectors = [
        ctx.op("Gather", found, ctx.number(k, taeda.int64), axis=0, rank=1)
        for k in range(index.rank)
    ]
    return list(vectors)


@rule("nonzero", "argwhere", fresh=True)
def _nonzero(ctx: Context, x: Value) -> Value:
    found = ctx.op("NonZero", x, dtype=taeda.int64, rank=2)
    return ctx.op("Transpose", found, perm=[1, 0])


@rule("nonzero_numpy", "where", fresh=True)
def _each_place(ctx: Context, x: Value) -> list[Value]:
    whole = x if x.rank else ctx.reshape(x, [1])
    found = ctx.op("NonZero", whole, dtype=taeda.int64, rank=2)
    rows = (ctx.number(k, taeda.int64) for k in range(whole.rank))
    return [ctx.op("Gather", found, k, axis=0, rank=1) for k in rows]


@rule("masked_select", fresh=True)
def _masked_select(ctx: Context, x: Value, mask: Value) -> Value:
    common = _broadcast(ctx, ctx.shape(x), ctx.shape(mask))
    flat = [
        ctx.reshape(ctx.op("Expand", v, common, rank=max(x.rank, mask.rank)), [-1])
        for v in (x, mask)
    ]
    return ctx.op("Compress", *flat, rank=1)


@rule("_unique2", fresh=True)
def _unique(
    ctx: Context,
    x: Value,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> list[Value]:
    parts = ctx.ops("Unique", 4, x, dtype=x.dtype, rank=1, sorted=1)
    values, _, inverse, counts = (Value(p.name, taeda.int64, p.sizes) for p in parts)
    if return_inverse:
        inverse = ctx.op("Reshape", inverse, ctx.shape(x), rank=x.rank)
    values = Value(values.name, x.dtype, values.sizes)
    return [values, *_asked(ctx, (inverse, return_inverse), (counts, return_counts))]


def _asked(ctx: Context, *results: tuple[Value, bool]) -> list[Value]:
    """Results beside the values; those that nobody asked for have no elements."""
    none = taeda.empty(0, dtype=taeda.int64)
    return [value if wanted else ctx.weight(none) for value, wanted in results]


@rule("unique_dim", fresh=True)
def _unique_slices(
    ctx: Context,
    x: Value,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> list[Value]:
    values, _, inverse, counts = ctx.ops("Unique", 4, x, axis=dim % x.rank, sorted=1)
    inverse, counts = (Value(p.name, taeda.int64, (None,)) for p in (inverse, counts))
    return [values, *_asked(ctx, (inverse, return_inverse), (counts, return_counts))]


@rule("_unique_consecutive", fresh=True)
def _runs(
    ctx: Context,
    x: Value,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> list[Value]:
    """Where something new begins: what differs from the one before, and the first."""
    shape, flat = ctx.shape(x), dim is None or not x.rank
    if flat:
        x = ctx.reshape(x, [-1])
    axis = 0 if dim is None or flat else dim % x.rank
    zero, one, last = (ctx.integers([n]) for n in (0, 1, 2**62))
    at = ctx.integers([axis])
    before, after = (
        ctx.op("Slice", x, zero, ctx.integers([-1]), at),
        ctx.op("Slice", x, one, last, at),
    )
    new = ctx.op("Not", ctx.op("Equal", before, after, dtype=taeda.bool))
    for d in range(x.rank - 1, -1, -1):  # slices differ where one element does
        if d != axis:
            new = _any(ctx, new, d)
    first = ctx.weight(taeda.ones(1, dtype=taeda.bool))
    size = ctx.op("Unsqueeze", ctx.tensor(ctx.size(x, axis), taeda.int64), zero, rank=1)
    begins = ctx.op("Slice", ctx.op("Concat", first, new, axis=0, rank=1), zero, size)
    values = ctx.op("Compress", x, begins, axis=axis)
    step = ctx.op("CumSum", ctx.cast(begins, taeda.int64), ctx.number(0, taeda.int64))
    inverse = ctx.op("Sub", step, ctx.number(1, taeda.int64))
    if flat:
        inverse = ctx.op("Reshape", inverse, shape, rank=len(ctx.sizes(1)), allowzero=1)
    places = ctx.reshape(ctx.op("NonZero", begins, dtype=taeda.int64, rank=2), [-1])
    ends = ctx.op("Concat", ctx.op("Slice", places, one, last), size, axis=0)
    ends = ctx.op("Slice", ends, zero, ctx.op("Shape", places, dtype=taeda.int64, rank=1))
    counts = ctx.op("Sub", ends, places)
    return [values, *_asked(ctx, (inverse, return_inverse), (counts, return_counts))]


def _any(ctx: Context, x: Value, dim: int) -> Value:
    """Whether any holds along a dimension, which goes."""
    number = ctx.cast(x, taeda.int32)
    made = ctx.op("ReduceSum", number, ctx.integers([dim]), keepdims=0, rank=x.rank - 1)
    return ctx.op("Greater", made, ctx.number(0, taeda.int32), dtype=taeda.bool)


@rule("repeat_interleave.Tensor", fresh=True)
def _repeated(ctx: Context, repeats: Value, output_size: Any = None) -> Value:
    """Each place counts the indices that end at or before it."""
    counts = ctx.cast(repeats, taeda.int64)
    ends = ctx.op("CumSum", counts, ctx.number(0, taeda.int64))
    total = ctx.op("ReduceSum", counts, ctx.integers([0]), keepdims=1)
    ones = ctx.op("Expand", ctx.number(1, taeda.int64), ctx.shape(ends), rank=1)
    ended = _added(ctx, total, ends, ones)
    made = ctx.op(
        "CumSum", ctx.op("Slice", ended, ctx.integers([0]), total), ctx.number(0, taeda.int64)
    )
    return ctx.cast(made, repeats.dtype)


@rule("bincount", fresh=True)
def _counted(ctx: Context, x: Value, weights: Value | None = None, minlength: Any = 0) -> Value:
    places = ctx.cast(x, taeda.int64)
    one = ctx.number(1, taeda.int64)
    least = ctx.op("Sub", ctx.integers([minlength]), one)
    top = ctx.op(
        "ReduceMax", ctx.op("Concat", places, least, axis=0), *_first_axis(ctx), keepdims=1
    )
    size = ctx.op("Add", top, one)
    ones = ctx.op("Expand", one, ctx.shape(places), rank=1)
    added = _added(ctx, size, places, ones if weights is None else ctx.cast(weights, ctx.dtype))
    return ctx.op("Slice", added, ctx.integers([0]), size)


def _first_axis(ctx: Context) -> list[Value]:
    """The first axis as an input, which `ReduceMax` takes from opset 18 on; it is all of a vector."""
    return [ctx.integers([0])] if ctx.opset >= 18 else []


def _added(ctx: Context, size: Value, places: Value, numbers: Value) -> Value:
    """Numbers added up at places, in a vector that is one longer than this size."""
    longer = ctx.op("Add", size, ctx.number(1, taeda.int64))
    zeros = ctx.op("Expand", ctx.number(0, numbers.dtype), longer, rank=1)
    return ctx.op("ScatterElements", zeros, places, numbers, axis=0, reduction="add")


def _behind(ctx: Context, x: Value, indices: list[Value | None], dims: list[int]) -> Value:
    """Index tensors behind whole dimensions: these go to the end, and back."""
    before, rest = list(range(dims[0])), list(range(dims[-1] + 1, x.rank))
    turned = ctx.op("Transpose", x, perm=[*dims, *before, *rest])
    given: list[Value | None] = [indices[d] for d in dims]
    made = _index(ctx, turned, given)
    rank = max(i.rank for i in given if i is not None)
    places, whole = list(range(rank)), list(range(rank, rank + len(before)))
    last = list(range(rank + len(before), rank + len(before) + len(rest)))
    return ctx.op("Transpose", made, perm=[*whole, *places, *last], rank=len(ctx.sizes()))


def _broadcast(ctx: Context, a: Value, b: Value) -> Value:
    """The common shape of two shapes, by adding zeros of them."""
    zeros = [ctx.op("Expand", ctx.number(0, taeda.int64), s, rank=0) for s in (a, b)]
    return ctx.op("Shape", ctx.op("Add", *zeros), dtype=taeda.int64, rank=1)


@rule("scatter.src", fresh=True)
def _scatter(ctx: Context, x: Value, dim: int, index: Value, src: Value) -> Value:
    return _scattered(ctx, x, dim, index, src, "none")


@rule("scatter_add", fresh=True)
def _scatter_add(ctx: Context, x: Value, dim: int, index: Value, src: Value) -> Value:
    return _scattered(ctx, x, dim, index, src, "add")


@rule("scatter.value", fresh=True)
def _scatter_value(ctx: Context, x: Value, dim: int, index: Value, value: Any) -> Value:
    src = ctx.op("Expand", ctx.tensor(value, x.dtype), ctx.shape(index), rank=index.rank)
    return ctx.op("ScatterElements", x, index, src, axis=dim % x.rank)


def _scattered(ctx: Context, x: Value, dim: int, index: Value, src: Value, how: str) -> Value:
    if not x.rank:
        raise ctx.refuse("a tensor without dimensions: give it one by reshape(1)")
    if how == "none" and src.sizes == index.sizes and None not in src.sizes:
        return ctx.op("ScatterElements", x, index, src, axis=dim % x.rank)
    zeros = ctx.integers([0] * index.rank)  # of src, what the index covers
    axes = ctx.integers(list(range(index.rank)))
    part = ctx.op("Slice", src, zeros, ctx.shape(index), axes)
    return ctx.op("ScatterElements", x, index, part, axis=dim % x.rank, reduction=how)


@rule("topk", fresh=True)
def _topk(
    ctx: Context, x: Value, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True
) -> list[Value]:
    count = ctx.integers([k])
    values, places = ctx.ops("TopK", 2, x, count, axis=dim % x.rank, largest=int(largest), sorted=1)
    return [values, Value(places.name, taeda.int64, places.sizes)]


@rule("sort", fresh=True)
def _sort(ctx: Context, x: Value, dim: int = -1, descending: bool = False) -> list[Value]:
    return _topk(ctx, x, ctx.size(x, dim), dim, descending)
