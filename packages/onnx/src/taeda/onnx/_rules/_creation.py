"""Tensors from numbers, joined tensors, padding."""

from __future__ import annotations

from typing import Any

import taeda

from .._context import Context, Value
from ._registry import rule


def _filled(ctx: Context, size: Value, value: Any, rank: int) -> Value:
    return ctx.op("Expand", ctx.tensor(value, ctx.dtype), size, rank=rank)


@rule("zeros", fresh=True)
def _zeros(ctx: Context, size: list[Any], **_: Any) -> Value:
    return _filled(ctx, ctx.integers(list(size)), 0, len(size))


@rule("ones", fresh=True)
def _ones(ctx: Context, size: list[Any], **_: Any) -> Value:
    return _filled(ctx, ctx.integers(list(size)), 1, len(size))


@rule("full", fresh=True)
def _full(ctx: Context, size: list[Any], fill_value: Any, **_: Any) -> Value:
    return _filled(ctx, ctx.integers(list(size)), fill_value, len(size))


@rule("new_zeros", fresh=True)
def _new_zeros(ctx: Context, x: Value, size: list[Any], **_: Any) -> Value:
    return _zeros(ctx, size)


@rule("new_ones", fresh=True)
def _new_ones(ctx: Context, x: Value, size: list[Any], **_: Any) -> Value:
    return _ones(ctx, size)


@rule("new_full", fresh=True)
def _new_full(ctx: Context, x: Value, size: list[Any], fill_value: Any, **_: Any) -> Value:
    return _full(ctx, size, fill_value)


@rule("full_like", fresh=True)
def _full_like(ctx: Context, x: Value, fill_value: Any, **_: Any) -> Value:
    return _filled(ctx, ctx.shape(x), fill_value, x.rank)


@rule("zeros_like", fresh=True)
def _zeros_like(ctx: Context, x: Value, **_: Any) -> Value:
    return _full_like(ctx, x, 0)


@rule("ones_like", fresh=True)
def _ones_like(ctx: Context, x: Value, **_: Any) -> Value:
    return _full_like(ctx, x, 1)


@rule("scalar_tensor", fresh=True)
def _scalar_tensor(ctx: Context, s: Any, **_: Any) -> Value:
    return ctx.op("Identity", ctx.tensor(s, ctx.dtype))


@rule("arange", fresh=True)
def _arange(ctx: Context, end: Any, **_: Any) -> Value:
    return _arange_step(ctx, 0, end)


@rule("arange.start", "arange.start_step", fresh=True)
def _arange_step(ctx: Context, start: Any, end: Any, step: Any = 1, **_: Any) -> Value:
    ends = [v for v in (start, end, step) if isinstance(v, float)]
    dtype = ctx.dtype if ends or ctx.dtype == taeda.float64 else taeda.int64
    made = ctx.op("Range", *(ctx.tensor(v, dtype) for v in (start, end, step)), rank=1)
    return ctx.cast(made, ctx.dtype)


@rule("cat", fresh=True)
def _cat(ctx: Context, tensors: list[Value], dim: int = 0) -> Value:
    rank = len(ctx.sizes())
    kept = [t for t in tensors if t.rank == rank]  # an empty vector is left out, whatever the rank
    if any(t.rank != rank and t.sizes != (0,) for t in tensors):
        raise ctx.refuse("tensors of different ranks")
    parts = [ctx.cast(t, ctx.dtype) for t in kept]
    return ctx.op("Concat", *parts, axis=dim % rank, rank=rank)


@rule("stack", fresh=True)
def _stack(ctx: Context, tensors: list[Value], dim: int = 0) -> Value:
    rank = tensors[0].rank + 1
    place = ctx.integers([dim % rank])
    parts = [ctx.op("Unsqueeze", ctx.cast(t, ctx.dtype), place, rank=rank) for t in tensors]
    return ctx.op("Concat", *parts, axis=dim % rank, rank=rank)


@rule("constant_pad_nd", fresh=True)
def _constant_pad(ctx: Context, x: Value, pad: list[Any], value: Any = 0) -> Value:
    return padded(ctx, x, list(pad), "constant", ctx.tensor(value, x.dtype))


@rule("_pad_inside", fresh=True)
def _pad_inside(ctx: Context, x: Value, padding: list[Any], mode: int) -> Value:
    return padded(ctx, x, list(padding), ("reflect", "edge")[mode], None)


def padded(ctx: Context, x: Value, pad: list[Any], mode: str, value: Value | None) -> Value:
    """Sizes are given from the last dimension on; ONNX wants all starts, then all ends."""
    count = len(pad) // 2
    before = [0] * (x.rank - count) + [pad[2 * k] for k in reversed(range(count))]
    after = [0] * (x.rank - count) + [pad[2 * k + 1] for k in reversed(range(count))]
    return ctx.op("Pad", x, ctx.integers([*before, *after]), value, mode=mode)


@rule("tril", fresh=True)
def _tril(ctx: Context, x: Value, diagonal: Any = 0) -> Value:
    return ctx.op("Trilu", x, ctx.tensor(diagonal, taeda.int64), upper=0)


@rule("triu", fresh=True)
def _triu(ctx: Context, x: Value, diagonal: Any = 0) -> Value:
    return ctx.op("Trilu", x, ctx.tensor(diagonal, taeda.int64), upper=1)


@rule("eye", "eye.m", fresh=True)
def _eye(ctx: Context, n: Any, m: Any = None, **_: Any) -> Value:
    zeros = ctx.op(
        "Expand", ctx.number(0.0, taeda.float32), ctx.integers([n, n if m is None else m]), rank=2
    )
    return ctx.cast(ctx.op("EyeLike", zeros, dtype=taeda.float32), ctx.dtype)


@rule("empty.memory_format", "new_empty", "empty_like", fresh=True)
def _empty(ctx: Context, *args: Any, **_: Any) -> Value:
    """What nobody has written is 0."""
    size = args[-1] if isinstance(args[-1], list | tuple) else args[0]
    if isinstance(size, Value):
        return _filled(ctx, ctx.shape(size), 0, size.rank)
    return _filled(ctx, ctx.integers(list(size)), 0, len(size))


def _constant(row: str) -> None:
    """Rows of numbers alone: what they give is a constant of the model."""

    @rule(row, fresh=True)
    def apply(ctx: Context, *args: Any, **options: Any) -> Value:
        assert ctx.node is not None
        if any(isinstance(a, Value) for a in args):
            raise ctx.refuse("its numbers differ from call to call")
        function: Any = ctx.node.target
        kept = {n: a for n, a in options.items() if n != "device"}
        return ctx.op("Identity", ctx.weight(function(*args, **kept)))


for _row in ("linspace", "logspace", "tril_indices", "triu_indices"):
    _constant(_row)


@rule("diag_embed", fresh=True)
def _diag_embed(ctx: Context, x: Value, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Value:
    rank, more = x.rank + 1, abs(offset)
    ends = [0] * (2 * x.rank)
    ends[x.rank - 1 if offset < 0 else -1] = more
    column = ctx.op(
        "Unsqueeze", ctx.op("Pad", x, ctx.integers(ends)), ctx.integers([-1]), rank=rank
    )
    size = ctx.op("Shape", column, dtype=taeda.int64, rank=1, start=-2, end=-1)
    count = ctx.op("Squeeze", size, ctx.integers([0]), rank=0)
    places = ctx.op("Range", ctx.number(0, taeda.int64), count, ctx.number(1, taeda.int64), rank=1)
    rows = ctx.op("Add", ctx.reshape(places, [-1, 1]), ctx.number(offset, taeda.int64))
    on = ctx.op("Equal", places, rows, dtype=taeda.bool, rank=2)
    made = ctx.op("Where", on, column, ctx.number(0, x.dtype), dtype=x.dtype, rank=rank)
    first, second = dim1 % rank, dim2 % rank
    rest = iter(range(rank - 2))
    order = [
        rank - 2 if d == first else rank - 1 if d == second else next(rest) for d in range(rank)
    ]
    return ctx.op("Transpose", made, perm=order)
