"""Normalisation."""

from __future__ import annotations

import taeda

from .._context import Context, Value
from ._reduction import reduced
from ._registry import rule


@rule("batch_norm", fresh=True)
def _batch_norm(
    ctx: Context,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    mean: Value | None,
    var: Value | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Value:
    if training or mean is None or var is None:
        made, average, spread = _by_batch(ctx, x, weight, bias, eps)
        if training and mean is not None and var is not None:
            ctx.write(3, _moved(ctx, mean, ctx.reshape(average, [-1]), momentum))
            ctx.write(4, _moved(ctx, var, _unbiased(ctx, x, spread), momentum))
        return made
    count = ctx.shape(mean)
    ones = weight or ctx.op("Expand", ctx.number(1.0, x.dtype), count, rank=1)
    zeros = bias or ctx.op("Expand", ctx.number(0.0, x.dtype), count, rank=1)
    made = ctx.op("BatchNormalization", x, ones, zeros, mean, var, epsilon=float(eps))
    return Value(made.name, made.dtype, ctx.sizes())


@rule("layer_norm", fresh=True)
def _layer_norm(
    ctx: Context,
    x: Value,
    shape: list[int],
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Value:
    if weight is None:
        weight = ctx.op(
            "Expand", ctx.number(1.0, x.dtype), ctx.integers(list(shape)), rank=len(shape)
        )
    return ctx.op("LayerNormalization", x, weight, bias, axis=-len(shape), epsilon=float(eps))


@rule("group_norm", fresh=True)
def _group_norm(
    ctx: Context,
    x: Value,
    groups: int,
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Value:
    dtype = x.dtype
    ones = ctx.op("Expand", ctx.number(1.0, dtype), ctx.integers([groups]), rank=1)
    zeros = ctx.op("Expand", ctx.number(0.0, dtype), ctx.integers([groups]), rank=1)
    folded = ctx.op("Reshape", x, ctx.integers([0, groups, -1]), rank=3)
    made = ctx.op("InstanceNormalization", folded, ones, zeros, epsilon=float(eps))
    made = ctx.op("Reshape", made, ctx.shape(x), rank=x.rank)
    places = [-1, *[1] * (x.rank - 2)]
    if weight is not None:
        made = ctx.op("Mul", made, ctx.reshape(weight, places))
    return made if bias is None else ctx.op("Add", made, ctx.reshape(bias, places))


def _moved(ctx: Context, old: Value, now: Value, momentum: float) -> Value:
    """A statistic of a batch norm after a batch that has this one."""
    kept = ctx.op("Mul", old, ctx.number(1.0 - momentum, old.dtype))
    return ctx.op("Add", kept, ctx.op("Mul", now, ctx.number(float(momentum), old.dtype)))


def _unbiased(ctx: Context, x: Value, spread: Value) -> Value:
    """The variance that is kept: of n numbers it is divided by n - 1."""
    channels = ctx.op("ReduceProd", ctx.shape(spread), dtype=taeda.int64, rank=0, keepdims=0)
    whole = ctx.op("ReduceProd", ctx.shape(x), dtype=taeda.int64, rank=0, keepdims=0)
    count = ctx.cast(ctx.op("Div", whole, channels), spread.dtype)
    less = ctx.op("Sub", count, ctx.number(1.0, spread.dtype))
    return ctx.reshape(ctx.op("Mul", spread, ctx.op("Div", count, less)), [-1])


def _by_batch(
    ctx: Context, x: Value, weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, Value, Value]:
    """By mean and variance of all that one channel has, which come second and third."""
    axes = [d for d in range(x.rank) if d != 1]
    average = reduced(ctx, "ReduceMean", x, axes, True)
    apart = ctx.op("Sub", x, average)
    spread = reduced(ctx, "ReduceMean", ctx.op("Mul", apart, apart), axes, True)
    root = ctx.op("Sqrt", ctx.op("Add", spread, ctx.number(float(eps), x.dtype)))
    made = ctx.op("Div", apart, root)
    places = [-1, *[1] * (x.rank - 2)]
    if weight is not None:
        made = ctx.op("Mul", made, ctx.reshape(weight, places))
    if bias is not None:
        made = ctx.op("Add", made, ctx.reshape(bias, places))
    return made, average, spread


@rule("_fused_rms_norm", fresh=True)
def _rms_norm(
    ctx: Context, x: Value, shape: list[int], weight: Value | None, eps: float
) -> list[Value]:
    axes = list(range(x.rank - len(shape), x.rank))
    mean = reduced(ctx, "ReduceMean", ctx.op("Mul", x, x), axes, True)
    root = ctx.op("Sqrt", ctx.op("Add", mean, ctx.number(float(eps), x.dtype)))
    scale = ctx.op("Reciprocal", root)
    made = ctx.op("Mul", x, scale)
    return [made if weight is None else ctx.op("Mul", made, weight), scale]
