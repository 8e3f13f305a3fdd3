"""Other sizes and orders of the same numbers. ONNX has no views: each is a value of its own."""

from __future__ import annotations

import itertools
from typing import Any

import taeda

from .._context import Context, Value
from ._registry import rule


@rule("clone", fresh=True)
def _clone(ctx: Context, x: Value, **_: Any) -> Value:
    return ctx.op("Identity", x)


@rule("contiguous", "detach")
def _as_it_is(ctx: Context, x: Value, **_: Any) -> Value:
    return ctx.op("Identity", x)


@rule("_to_copy", fresh=True)
def _to_copy(ctx: Context, x: Value, dtype: Any = None, **_: Any) -> Value:
    return ctx.op("Identity", x) if ctx.dtype == x.dtype else ctx.cast(x, ctx.dtype)


@rule("view", "reshape")
def _reshape(ctx: Context, x: Value, sizes: list[Any]) -> Value:
    return ctx.reshape(x, list(sizes))


@rule("flatten.using_ints")
def _flatten(ctx: Context, x: Value, start_dim: int = 0, end_dim: int = -1) -> Value:
    if not x.rank:
        return ctx.reshape(x, [1])
    first, last = start_dim % x.rank, end_dim % x.rank
    before = [ctx.size(x, d) for d in range(first)]
    after = [ctx.size(x, d) for d in range(last + 1, x.rank)]
    return ctx.reshape(x, [*before, _product(ctx, x, range(first, last + 1)), *after])


def _product(ctx: Context, x: Value, dims: Any) -> int | Value:
    """The product of sizes."""
    made: int | Value = 1
    for dim in dims:
        size = ctx.size(x, dim)
        if isinstance(made, int) and isinstance(size, int):
            made *= size
        elif isinstance(made, int) and made == 1:
            made = size
        else:
            made = ctx.op("Mul", ctx.tensor(made, taeda.int64), ctx.tensor(size, taeda.int64))
    return made


@rule("unflatten.int")
def _unflatten(ctx: Context, x: Value, dim: int, sizes: list[Any]) -> Value:
    dim %= x.rank
    before = [ctx.size(x, d) for d in range(dim)]
    after = [ctx.size(x, d) for d in range(dim + 1, x.rank)]
    return ctx.reshape(x, [*before, *sizes, *after])


@rule("permute")
def _permute(ctx: Context, x: Value, dims: list[int]) -> Value:
    return ctx.op("Transpose", x, perm=[d % x.rank for d in dims])


@rule("transpose.int", "swapaxes", "swapdims")
def _transpose(ctx: Context, x: Value, dim0: int, dim1: int) -> Value:
    order = list(range(x.rank))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return ctx.op("Transpose", x, perm=order)


@rule("t")
def _t(ctx: Context, x: Value) -> Value:
    return ctx.op("Transpose", x, perm=list(reversed(range(x.rank))))


@rule("unsqueeze")
def _unsqueeze(ctx: Context, x: Value, dim: int) -> Value:
    return ctx.op("Unsqueeze", x, ctx.integers([dim % (x.rank + 1)]), rank=x.rank + 1)


@rule("squeeze", "squeeze.dim", "squeeze.dims")
def _squeeze(ctx: Context, x: Value, dim: Any = None) -> Value:
    dims = [d for d in ctx.axes(x, dim) if x.sizes[d] in (1, None)]
    if dim is None or any(x.sizes[d] is None for d in dims):
        dims = [d for d in dims if x.sizes[d] == 1]
    if not dims:
        return ctx.op("Identity", x)
    return ctx.op("Squeeze", x, ctx.integers(dims), rank=x.rank - len(dims))


@rule("expand", "broadcast_to")
def _expand(ctx: Context, x: Value, sizes: list[Any], implicit: bool = False) -> Value:
    new = len(sizes) - x.rank
    wanted = [
        ctx.size(x, d - new) if isinstance(n, int) and n == -1 else n for d, n in enumerate(sizes)
    ]
    return ctx.op("Expand", x, ctx.integers(wanted), rank=len(sizes))


@rule("repeat", "tile", fresh=True)
def _repeat(ctx: Context, x: Value, repeats: list[Any]) -> Value:
    repeats = [*[1] * (x.rank - len(repeats)), *repeats]
    new = len(repeats) - x.rank
    if new:
        x = ctx.op("Unsqueeze", x, ctx.integers(list(range(new))), rank=len(repeats))
    return ctx.op("Tile", x, ctx.integers(list(repeats)))


@rule("slice.Tensor")
def _slice(
    ctx: Context, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    first = 0 if start is None else start
    last = (1 << 63) - 1 if end is None else end
    places = (ctx.integers([n]) for n in (first, last, dim % x.rank, step))
    return ctx.op("Slice", x, *places)


@rule("narrow")
def _narrow(ctx: Context, x: Value, dim: int, start: Any, length: Any) -> Value:
    if isinstance(start, int) and isinstance(length, int) and (start >= 0 or start + length < 0):
        return _slice(ctx, x, dim, start, start + length)
    end = ctx.op("Add", ctx.tensor(start, taeda.int64), ctx.tensor(length, taeda.int64))
    if isinstance(start, int) and start < 0:
        end = ctx.op("Add", end, ctx.tensor(ctx.size(x, dim), taeda.int64))
    return _slice(ctx, x, dim, start, end)


@rule("select.int")
def _select(ctx: Context, x: Value, dim: int, index: Any) -> Value:
    place = ctx.tensor(index, taeda.int64)
    return ctx.op("Gather", x, place, axis=dim % x.rank, rank=x.rank - 1)


@rule("unbind.int")
def _unbind(ctx: Context, x: Value, dim: int = 0) -> list[Value]:
    return [_select(ctx, x, dim, k) for k in range(_parts(ctx))]


def _parts(ctx: Context) -> int:
    assert ctx.node is not None
    return len(ctx.node.meta["shape"])


@rule("split.Tensor")
def _split(ctx: Context, x: Value, split_size: Any, dim: int = 0) -> list[Value]:
    if not isinstance(split_size, int):
        raise ctx.refuse("parts of a size that differs from call to call: give split a list")
    starts = range(0, _parts(ctx) * split_size, split_size)
    return [_slice(ctx, x, dim, n, n + split_size) for n in starts]


@rule("split.sizes", "split_with_sizes")
def _split_with_sizes(ctx: Context, x: Value, sizes: list[Any], dim: int = 0) -> list[Value]:
    made: list[Value] = []
    start: Any = 0
    for size in sizes:
        if isinstance(start, int) and isinstance(size, int):
            end: Any = start + size
        else:
            end = ctx.op("Add", *(ctx.tensor(n, taeda.int64) for n in (start, size)))
        made.append(_slice(ctx, x, dim, start, end))
        start = end
    return made


@rule("chunk")
def _chunk(ctx: Context, x: Value, chunks: int, dim: int = 0) -> list[Value]:
    size = ctx.size(x, dim)
    if isinstance(size, int):
        part = -(-size // chunks)
        return [_slice(ctx, x, dim, k * part, (k + 1) * part) for k in range(_parts(ctx))]
    less = ctx.op("Add", size, ctx.number(chunks - 1, taeda.int64))
    each = ctx.op("Div", less, ctx.number(chunks, taeda.int64))
    ends = [ctx.op("Mul", each, ctx.number(k, taeda.int64)) for k in range(_parts(ctx) + 1)]
    return [_slice(ctx, x, dim, a, b) for a, b in itertools.pairwise(ends)]


@rule("flip", fresh=True)
def _flip(ctx: Context, x: Value, dims: list[int]) -> Value:
    axes = [d % x.rank for d in dims]
    if not axes:
        return ctx.op("Identity", x)
    back = -(1 << 63) + 1
    lists = ([-1] * len(axes), [back] * len(axes), axes, [-1] * len(axes))
    return ctx.op("Slice", x, *map(ctx.integers, lists))


@rule("roll", fresh=True)
def _roll(ctx: Context, x: Value, shifts: Any, dims: Any = ()) -> Value:
    moves = [shifts] if isinstance(shifts, int) else list(shifts)
    axes = [dims] if isinstance(dims, int) else list(dims)
    if not axes:
        flat = ctx.reshape(x, [-1])
        return ctx.op("Reshape", _rolled(ctx, flat, moves[0], 0), ctx.shape(x), rank=x.rank)
    for move, axis in zip(moves, axes, strict=True):
        x = _rolled(ctx, x, move, axis)
    return x


def _rolled(ctx: Context, x: Value, move: int, dim: int) -> Value:
    size = ctx.size(x, dim)
    if isinstance(size, int):
        place: Any = -move % size if size else 0
    else:
        place = ctx.op("Mod", ctx.number(-move, taeda.int64), size)
    parts = _slice(ctx, x, dim, place, None), _slice(ctx, x, dim, 0, place)
    return ctx.op("Concat", *parts, axis=dim % x.rank)


@rule("mT", "mH", "adjoint", "matrix_H", "numpy_T")
def _turned(ctx: Context, x: Value) -> Value:
    assert ctx.node is not None
    order = list(range(x.rank))
    if "numpy_T" in str(ctx.node.target):
        order.reverse()
    elif x.rank > 1:
        order[-2:] = order[:-3:-1]
    return ctx.op("Transpose", x, perm=order)


@rule("movedim.int", "movedim.intlist")
def _movedim(ctx: Context, x: Value, source: Any, destination: Any) -> Value:
    given = [[v] if isinstance(v, int) else list(v) for v in (source, destination)]
    before, after = ([d % x.rank for d in dims] for dims in given)
    rest = iter(d for d in range(x.rank) if d not in before)
    places = dict(zip(after, before, strict=True))
    return ctx.op(
        "Transpose", x, perm=[places[d] if d in places else next(rest) for d in range(x.rank)]
    )


@rule("ravel")
def _ravel(ctx: Context, x: Value) -> Value:
    return ctx.reshape(x, [-1])


@rule("reshape_as", "view_as")
def _reshape_as(ctx: Context, x: Value, other: Value) -> Value:
    return ctx.op("Reshape", x, ctx.shape(other), rank=other.rank, allowzero=1)


@rule("expand_as")
def _expand_as(ctx: Context, x: Value, other: Value) -> Value:
    return ctx.op("Expand", x, ctx.shape(other), rank=other.rank)


@rule("tensor_split.sections")
def _tensor_split(ctx: Context, x: Value, sections: int, dim: int = 0) -> list[Value]:
    size = ctx.size(x, dim)
    if not isinstance(size, int):
        raise ctx.refuse("parts of a size that differs from call to call: use chunk")
    each, more = divmod(size, sections)
    ends = list(itertools.accumulate([each + (k < more) for k in range(sections)], initial=0))
    return [_slice(ctx, x, dim, a, b) for a, b in itertools.pairwise(ends)]


@rule("tensor_split.indices")
def _tensor_split_at(ctx: Context, x: Value, indices: list[int], dim: int = 0) -> list[Value]:
    ends = [0, *indices, None]
    return [_slice(ctx, x, dim, a, b) for a, b in itertools.pairwise(ends)]


@rule("diagonal")
def _diagonal(ctx: Context, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    first, second = dim1 % x.rank, dim2 % x.rank
    rest = [d for d in range(x.rank) if d not in (first, second)]
    turned = ctx.op("Transpose", x, perm=[*rest, first, second])
    high, wide = (ctx.tensor(ctx.size(x, d), taeda.int64) for d in (first, second))
    zero, one = ctx.number(0, taeda.int64), ctx.number(1, taeda.int64)
    rows = ctx.op("Add", high, ctx.number(min(offset, 0), taeda.int64))
    columns = ctx.op("Sub", wide, ctx.number(max(offset, 0), taeda.int64))
    count = ctx.op("Max", ctx.op("Min", rows, columns), zero)
    places = ctx.op("Range", zero, count, one, rank=1)
    row = ctx.op("Add", places, ctx.number(max(-offset, 0), taeda.int64))
    column = ctx.op("Add", places, ctx.number(max(offset, 0), taeda.int64))
    flat = ctx.op("Add", ctx.op("Mul", row, wide), column)
    sizes = [ctx.size(x, d) for d in rest]
    joined = ctx.reshape(turned, [*sizes, ctx.op("Mul", high, wide)])
    return ctx.op("Gather", joined, flat, axis=len(rest))


def _split_along(row: str, dim: int) -> None:
    @rule(f"{row}.int")
    def sections(ctx: Context, x: Value, sections: int) -> list[Value]:
        return _tensor_split(ctx, x, sections, min(dim, x.rank - 1))

    @rule(f"{row}.array")
    def indices(ctx: Context, x: Value, indices: list[int]) -> list[Value]:
        return _tensor_split_at(ctx, x, indices, min(dim, x.rank - 1))


for _row, _dim in (("vsplit", 0), ("hsplit", 1), ("dsplit", 2)):
    _split_along(_row, _dim)
