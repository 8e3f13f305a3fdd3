"""Running products and extremes, places in what is sorted, the k-th of all.

ONNX has no running product before opset 26, and no running extreme. Each result is a reduction over
all elements up to its own, which takes memory of the square of the size.
"""

from __future__ import annotations

import math
from typing import Any

import taeda

from .._context import Context, Value
from ._reduction import reduced
from ._registry import rule


def _up_to(ctx: Context, x: Value, dim: int, neutral: Any) -> tuple[Value, int]:
    """A new dimension behind `dim`, along which lie the elements up to its own, else `neutral`."""
    axis = dim % x.rank
    size = ctx.tensor(ctx.size(x, axis), taeda.int64)
    ends = (ctx.number(0, taeda.int64), size, ctx.number(1, taeda.int64))
    places = ctx.op("Range", *ends, rank=1)
    rest = [1] * (x.rank - axis - 1)
    rows = ctx.reshape(places, [-1, 1, *rest])
    columns = ctx.reshape(places, [-1, *rest])
    seen = ctx.op("LessOrEqual", columns, rows, dtype=taeda.bool, rank=rows.rank)
    spread = ctx.op("Unsqueeze", x, ctx.integers([axis]), rank=x.rank + 1)
    least = ctx.number(neutral, x.dtype)
    return ctx.op("Where", seen, spread, least, dtype=x.dtype, rank=x.rank + 1), axis + 1


@rule("cumprod", fresh=True)
def _cumprod(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    x = ctx.cast(x, ctx.dtype)
    if not x.rank:
        return x
    spread, axis = _up_to(ctx, x, dim, 1)
    return reduced(ctx, "ReduceProd", spread, [axis], False)


@rule("logcumsumexp", fresh=True)
def _logcumsumexp(ctx: Context, x: Value, dim: int) -> Value:
    if not x.rank:
        return ctx.op("Identity", x)
    spread, axis = _up_to(ctx, x, dim, -math.inf)
    return reduced(ctx, "ReduceLogSumExp", spread, [axis], False)


def _running(row: str, kind: str, sign: int) -> None:
    @rule(row, fresh=True)
    def apply(ctx: Context, x: Value, dim: int) -> list[Value]:
        if not x.rank:
            return [ctx.op("Identity", x), ctx.op("Identity", ctx.number(0, taeda.int64))]
        least = sign * math.inf if x.dtype.is_floating_point else _end(x.dtype, sign)
        spread, axis = _up_to(ctx, x, dim, least)
        place = ctx.op(
            f"Arg{kind}",
            spread,
            axis=axis,
            keepdims=0,
            select_last_index=1,
            dtype=taeda.int64,
            rank=x.rank,
        )
        return [reduced(ctx, f"Reduce{kind}", spread, [axis], False), place]


def _end(dtype: taeda.dtype, sign: int) -> int:
    limits = taeda.iinfo(dtype)
    return limits.max if sign > 0 else limits.min


_running("cummax", "Max", -1)
_running("cummin", "Min", 1)


# ---- what is sorted ----


@rule("searchsorted.Tensor", fresh=True)
def _searchsorted(
    ctx: Context,
    sequence: Value,
    x: Value,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Value | None = None,
) -> Value:
    if sorter is not None:
        raise ctx.refuse("places by a sorter: gather the sequence by it before")
    if side is not None:
        right = side == "right"
    dtype = taeda.result_type(*(taeda.empty(1, dtype=v.dtype) for v in (sequence, x)))
    sequence, x = ctx.cast(sequence, dtype), ctx.cast(x, dtype)
    one = ctx.op("Unsqueeze", x, ctx.integers([x.rank]), rank=x.rank + 1)
    if sequence.rank > 1:
        axis = ctx.integers([sequence.rank - 1])
        sequence = ctx.op("Unsqueeze", sequence, axis, rank=sequence.rank + 1)
    below = ctx.op(
        "LessOrEqual" if right else "Less", sequence, one, dtype=taeda.bool, rank=one.rank
    )
    if dtype.is_floating_point:  # NaN is behind all
        below = ctx.op("Or", below, ctx.op("IsNaN", one, dtype=taeda.bool), rank=one.rank)
    count = reduced(ctx, "ReduceSum", ctx.cast(below, taeda.int64), [one.rank - 1], False)
    return ctx.cast(count, ctx.dtype)


@rule("bucketize.Tensor", fresh=True)
def _bucketize(
    ctx: Context, x: Value, boundaries: Value, *, out_int32: bool = False, right: bool = False
) -> Value:
    return _searchsorted(ctx, boundaries, x, out_int32=out_int32, right=right)


# ---- the k-th ----


def _kth(ctx: Context, x: Value, k: Any, dim: int, keepdim: bool) -> list[Value]:
    """The k-th smallest and its place, from 1."""
    axis = dim % x.rank
    found = ctx.ops("TopK", 2, x, ctx.integers([k]), axis=axis, largest=0, sorted=1)
    last = ctx.integers([-1])
    made = [
        ctx.op("Slice", v, last, ctx.integers([(1 << 63) - 1]), ctx.integers([axis])) for v in found
    ]
    if not keepdim:
        made = [ctx.op("Squeeze", v, ctx.integers([axis]), rank=x.rank - 1) for v in made]
    return [made[0], Value(made[1].name, taeda.int64, made[1].sizes)]


@rule("kthvalue", fresh=True)
def _kthvalue(ctx: Context, x: Value, k: int, dim: int = -1, keepdim: bool = False) -> list[Value]:
    return _kth(ctx, x, k, dim, keepdim)


def _middle(ctx: Context, x: Value, dim: int) -> Any:
    """The place of the lower of both middles."""
    size = ctx.size(x, dim)
    if isinstance(size, int):
        return (size + 1) // 2
    more = ctx.op("Add", size, ctx.number(1, taeda.int64))
    return ctx.op("Div", more, ctx.number(2, taeda.int64))


@rule("median", fresh=True)
def _median(ctx: Context, x: Value) -> Value:
    flat = ctx.reshape(x, [-1])
    return _kth(ctx, flat, _middle(ctx, flat, 0), 0, False)[0]


@rule("median.dim", fresh=True)
def _median_along(ctx: Context, x: Value, dim: int, keepdim: bool = False) -> list[Value]:
    return _kth(ctx, x, _middle(ctx, x, dim), dim, keepdim)
