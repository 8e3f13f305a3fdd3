"""Sums, extremes, places of extremes, running sums."""

from __future__ import annotations

from typing import Any

import taeda

from .._context import Context, Value
from ._registry import rule


def reduced(ctx: Context, kind: str, x: Value, dims: Any, keep: bool) -> Value:
    """A reduction over dimensions, all for none. `axes` became an input in opset 18."""
    axes = ctx.axes(x, dims)
    if not axes:  # one number is its own sum, mean and extreme
        return ctx.op("Identity", x)
    rank = x.rank if keep else x.rank - len(axes)
    if ctx.opset < 18 and kind != "ReduceSum":
        return ctx.op(kind, x, axes=axes, keepdims=int(keep), rank=rank)
    return ctx.op(kind, x, ctx.integers(axes), keepdims=int(keep), rank=rank)


@rule("sum", fresh=True)
def _sum_all(ctx: Context, x: Value, dtype: Any = None) -> Value:
    return _sum(ctx, x, None)


@rule("sum.dim_IntList", fresh=True)
def _sum(ctx: Context, x: Value, dim: Any, keepdim: bool = False, dtype: Any = None) -> Value:
    return reduced(ctx, "ReduceSum", ctx.cast(x, ctx.dtype), dim, keepdim)


@rule("mean", fresh=True)
def _mean_all(ctx: Context, x: Value, dtype: Any = None) -> Value:
    return _mean(ctx, x, None)


@rule("mean.dim", fresh=True)
def _mean(ctx: Context, x: Value, dim: Any, keepdim: bool = False, dtype: Any = None) -> Value:
    return reduced(ctx, "ReduceMean", ctx.cast(x, ctx.dtype), dim, keepdim)


def _extremes(row: str, kind: str) -> None:
    @rule(f"a{row}", fresh=True)
    def over(ctx: Context, x: Value, dim: Any = (), keepdim: bool = False) -> Value:
        return _extreme(ctx, kind, x, dim, keepdim)

    @rule(row, fresh=True)
    def whole(ctx: Context, x: Value) -> Value:
        return _extreme(ctx, kind, x, None, False)

    @rule(f"{row}.dim", fresh=True)
    def along(ctx: Context, x: Value, dim: int, keepdim: bool = False) -> list[Value]:
        place = _place(ctx, kind.replace("Reduce", "Arg"), x, dim, keepdim)
        return [_extreme(ctx, kind, x, [dim], keepdim), place]


def _extreme(ctx: Context, kind: str, x: Value, dim: Any, keepdim: bool) -> Value:
    if x.dtype in (taeda.bool, taeda.int16, taeda.uint8, taeda.int8):
        made = reduced(ctx, kind, ctx.cast(x, taeda.int32), dim, keepdim)
        return ctx.cast(made, x.dtype)
    return reduced(ctx, kind, x, dim, keepdim)


_extremes("max", "ReduceMax")
_extremes("min", "ReduceMin")


def _place(ctx: Context, kind: str, x: Value, dim: int | None, keepdim: bool) -> Value:
    if dim is None:
        flat = ctx.reshape(x, [-1])
        made = ctx.op(kind, flat, axis=0, keepdims=0, dtype=taeda.int64, rank=0)
        return ctx.reshape(made, [1] * x.rank) if keepdim else made
    rank = x.rank if keepdim else x.rank - 1
    return ctx.op(kind, x, axis=dim % x.rank, keepdims=int(keepdim), dtype=taeda.int64, rank=rank)


@rule("argmax", fresh=True)
def _argmax(ctx: Context, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return _place(ctx, "ArgMax", x, dim, keepdim)


@rule("argmin", fresh=True)
def _argmin(ctx: Context, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return _place(ctx, "ArgMin", x, dim, keepdim)


def _truths(row: str, kind: str) -> None:
    def apply(ctx: Context, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
        truth = ctx.cast(ctx.cast(x, taeda.bool), taeda.int32)
        return ctx.cast(reduced(ctx, kind, truth, dim, keepdim), ctx.dtype)

    rule(row, f"{row}.dim", *(["any.dims"] if row == "any" else []), fresh=True)(apply)


_truths("any", "ReduceMax")
_truths("all", "ReduceMin")


@rule("prod", fresh=True)
def _prod_all(ctx: Context, x: Value, dtype: Any = None) -> Value:
    return _prod(ctx, x, None)


@rule("prod.dim_int", fresh=True)
def _prod(ctx: Context, x: Value, dim: Any, keepdim: bool = False, dtype: Any = None) -> Value:
    return reduced(ctx, "ReduceProd", ctx.cast(x, ctx.dtype), dim, keepdim)


@rule("logsumexp", fresh=True)
def _logsumexp(ctx: Context, x: Value, dim: Any, keepdim: bool = False) -> Value:
    return reduced(ctx, "ReduceLogSumExp", ctx.cast(x, ctx.dtype), dim, keepdim)


def _variance(ctx: Context, x: Value, dim: Any, correction: Any, keepdim: bool) -> Value:
    """In two passes: the mean, then the squares of what is beside it."""
    apart = ctx.op("Sub", x, reduced(ctx, "ReduceMean", x, dim, True))
    total = reduced(ctx, "ReduceSum", ctx.op("Mul", apart, apart), dim, keepdim)
    count: Any = 1
    for axis in ctx.axes(x, dim):
        size = ctx.size(x, axis)
        if isinstance(count, int) and isinstance(size, int):
            count *= size
        else:
            count = ctx.op("Mul", *(ctx.tensor(v, taeda.int64) for v in (count, size)))
    less = ctx.op("Sub", ctx.tensor(count, x.dtype), ctx.number(float(correction), x.dtype))
    return ctx.op("Div", total, ctx.op("Max", less, ctx.number(0.0, x.dtype)))


@rule("var.correction", fresh=True)
def _var(
    ctx: Context, x: Value, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> Value:
    return _variance(ctx, x, dim, 1 if correction is None else correction, keepdim)


@rule("std.correction", fresh=True)
def _std(
    ctx: Context, x: Value, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> Value:
    return ctx.op("Sqrt", _var(ctx, x, dim, correction, keepdim))


def _spread(row: str, root: bool) -> None:
    def apply(ctx: Context, x: Value, dim: Any, unbiased: bool, keepdim: bool = False) -> Value:
        made = _variance(ctx, x, dim, int(unbiased), keepdim)
        return ctx.op("Sqrt", made) if root else made

    @rule(row, fresh=True)
    def whole(ctx: Context, x: Value, unbiased: bool = True) -> Value:
        return apply(ctx, x, None, unbiased)

    @rule(f"{row}.dim", fresh=True)
    def over(
        ctx: Context, x: Value, dim: Any, unbiased: bool = True, keepdim: bool = False
    ) -> Value:
        return apply(ctx, x, dim, unbiased, keepdim)


_spread("var", False)
_spread("std", True)


@rule("cumsum", fresh=True)
def _cumsum(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    if not x.rank:
        return ctx.cast(x, ctx.dtype)
    return ctx.op("CumSum", ctx.cast(x, ctx.dtype), ctx.number(dim % x.rank, taeda.int64))


@rule("aminmax", fresh=True)
def _aminmax(
    ctx: Context, x: Value, *, dim: int | None = None, keepdim: bool = False
) -> list[Value]:
    dims = None if dim is None else [dim]
    return [_extreme(ctx, f"Reduce{k}", x, dims, keepdim) for k in ("Min", "Max")]


@rule("nansum", fresh=True)
def _nansum(
    ctx: Context, x: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    x = ctx.cast(x, ctx.dtype)
    if x.dtype.is_floating_point:
        nothing = ctx.op("IsNaN", x, dtype=taeda.bool)
        x = ctx.op("Where", nothing, ctx.number(0.0, x.dtype), x, dtype=x.dtype)
    return reduced(ctx, "ReduceSum", x, dim, keepdim)


@rule("count_nonzero", "count_nonzero.dim_IntList", fresh=True)
def _count_nonzero(ctx: Context, x: Value, dim: Any = None) -> Value:
    return reduced(ctx, "ReduceSum", ctx.cast(ctx.cast(x, taeda.bool), taeda.int64), dim, False)


def _both(row: str, root: bool) -> None:
    def apply(ctx: Context, x: Value, dim: Any, correction: Any, keepdim: bool) -> list[Value]:
        made = _variance(ctx, x, dim, correction, keepdim)
        mean = reduced(ctx, "ReduceMean", x, dim, keepdim)
        return [ctx.op("Sqrt", made) if root else made, mean]

    @rule(row, fresh=True)
    def whole(ctx: Context, x: Value, unbiased: bool = True) -> list[Value]:
        return apply(ctx, x, None, int(unbiased), False)

    @rule(f"{row}.dim", fresh=True)
    def over(
        ctx: Context, x: Value, dim: Any, unbiased: bool = True, keepdim: bool = False
    ) -> list[Value]:
        return apply(ctx, x, dim, int(unbiased), keepdim)

    @rule(f"{row}.correction", fresh=True)
    def corrected(
        ctx: Context, x: Value, dim: Any = None, *, correction: Any = None, keepdim: bool = False
    ) -> list[Value]:
        return apply(ctx, x, dim, 1 if correction is None else correction, keepdim)


_both("std_mean", True)
_both("var_mean", False)
