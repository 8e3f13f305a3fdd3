"""Losses, distances and norms as formulas."""

from __future__ import annotations

import math
from typing import Any

import taeda

from .._context import Context, Value
from ._reduction import reduced
from ._registry import rule
from ._special import Formula


def _summed(ctx: Context, loss: Value, reduction: int) -> Value:
    """No sum (0), the mean (1), or the sum (2) of all."""
    if reduction == 0:
        return loss
    return reduced(ctx, "ReduceMean" if reduction == 1 else "ReduceSum", loss, None, False)


def _apart(ctx: Context, x: Value, target: Value) -> tuple[Formula, Value]:
    f = Formula(ctx)
    return f, f.Sub(ctx.cast(x, ctx.dtype), ctx.cast(target, ctx.dtype))


@rule("mse_loss", fresh=True)
def _mse(ctx: Context, x: Value, target: Value, reduction: int = 1) -> Value:
    f, apart = _apart(ctx, x, target)
    return _summed(ctx, f.Mul(apart, apart), reduction)


@rule("_l1_loss", fresh=True)
def _l1(ctx: Context, x: Value, target: Value, reduction: int = 1) -> Value:
    f, apart = _apart(ctx, x, target)
    return _summed(ctx, f.Abs(apart), reduction)


@rule("huber_loss", fresh=True)
def _huber(ctx: Context, x: Value, target: Value, reduction: int = 1, delta: float = 1.0) -> Value:
    f, apart = _apart(ctx, x, target)
    size = f.Abs(apart)
    far = f.Mul(delta, f.Sub(size, delta / 2))
    near = f.Mul(0.5, f.Mul(apart, apart))
    return _summed(ctx, f.where(f.asks("Less", size, delta), near, far), reduction)


@rule("smooth_l1_loss", fresh=True)
def _smooth_l1(
    ctx: Context, x: Value, target: Value, reduction: int = 1, beta: float = 1.0
) -> Value:
    f, apart = _apart(ctx, x, target)
    size = f.Abs(apart)
    if not beta:
        return _summed(ctx, size, reduction)
    near = f.Div(f.Mul(0.5, f.Mul(apart, apart)), beta)
    made = f.where(f.asks("Less", size, beta), near, f.Sub(size, beta / 2))
    return _summed(ctx, made, reduction)


@rule("soft_margin_loss", fresh=True)
def _soft_margin(ctx: Context, x: Value, target: Value, reduction: int = 1) -> Value:
    f = Formula(ctx)
    product = f.Mul(ctx.cast(x, ctx.dtype), ctx.cast(target, ctx.dtype))
    return _summed(ctx, f.Softplus(f.Neg(product)), reduction)


@rule("_binary_cross_entropy", fresh=True)
def _binary(ctx: Context, x: Value, target: Value, reduction: int = 1) -> Value:
    f = Formula(ctx)
    right = f.Max(f.Log(x), -100.0)
    wrong = f.Max(f.Log(f.Sub(1.0, x)), -100.0)
    made = f.Add(f.Mul(target, right), f.Mul(f.Sub(1.0, target), wrong))
    return _summed(ctx, f.Neg(made), reduction)


@rule("_binary_cross_entropy_with_logits", fresh=True)
def _binary_with_logits(ctx: Context, x: Value, target: Value, reduction: int = 1) -> Value:
    f = Formula(ctx)
    slope = f.where(f.asks("Greater", x, 0.0), f.Sub(1.0, target), f.Neg(target))
    made = f.Add(f.Mul(slope, x), f.log1p(f.Exp(f.Neg(f.Abs(x)))))
    return _summed(ctx, made, reduction)


@rule("_cross_entropy", "nll_loss_forward", fresh=True)
def _cross_entropy(
    ctx: Context,
    x: Value,
    target: Value,
    weight: Value | None,
    reduction: int,
    ignore_index: int,
) -> list[Value | None]:
    assert ctx.node is not None
    logs = x
    if "_cross_entropy" in str(ctx.node.target):
        logs = ctx.op("LogSoftmax", x, axis=x.rank - 1 if x.rank == 1 else 1)
    kind = ("none", "mean", "sum")[reduction]
    one = x.rank == 1
    if one:
        logs = ctx.op("Unsqueeze", logs, ctx.integers([0]), rank=2)
        target = ctx.op("Unsqueeze", target, ctx.integers([0]), rank=1)
    made = ctx.op(
        "NegativeLogLikelihoodLoss",
        logs,
        target,
        weight,
        reduction=kind,
        ignore_index=ignore_index,
        rank=logs.rank - 1 if reduction == 0 else 0,
    )
    if one and reduction == 0:
        made = ctx.op("Squeeze", made, ctx.integers([0]), rank=0)
    parts: list[Value | None] = [made]
    count = len(ctx.result()) if isinstance(ctx.result(), tuple | list) else 1
    return parts + [None] * (count - 1)


# ---- norms and distances ----


def norm(ctx: Context, x: Value, ord: Any, dim: Any, keepdim: bool) -> Value:
    """The norm of a vector along dimensions, all for none."""
    f, size = Formula(ctx), ctx.op("Abs", x)
    if ord in (1, 2):
        return reduced(ctx, f"ReduceL{int(ord)}", x, dim, keepdim)
    if ord in (math.inf, -math.inf):
        return reduced(ctx, "ReduceMax" if ord > 0 else "ReduceMin", size, dim, keepdim)
    if ord == 0:
        some = ctx.op("Not", f.asks("Equal", x, 0.0))
        return reduced(ctx, "ReduceSum", ctx.cast(some, x.dtype), dim, keepdim)
    total = reduced(ctx, "ReduceSum", f.Pow(size, float(ord)), dim, keepdim)
    return f.Pow(total, 1 / float(ord))


@rule("linalg_vector_norm", fresh=True)
def _vector_norm(
    ctx: Context,
    x: Value,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
) -> Value:
    return norm(ctx, ctx.cast(x, ctx.dtype), ord, dim, keepdim)


@rule("_row_distances", "_euclidean_dist", fresh=True)
def _distances(ctx: Context, a: Value, b: Value, p: float = 2.0) -> Value:
    rank = max(a.rank, b.rank) + 1
    left = ctx.op("Unsqueeze", a, ctx.integers([a.rank - 1]), rank=a.rank + 1)
    right = ctx.op("Unsqueeze", b, ctx.integers([b.rank - 2]), rank=b.rank + 1)
    apart = ctx.op("Sub", left, right, rank=rank)
    return norm(ctx, apart, p, [rank - 1], False)


@rule("linalg_cross.linalg", fresh=True)
def _cross(ctx: Context, a: Value, b: Value, dim: int = -1) -> Value:
    a, b = ctx.cast(a, ctx.dtype), ctx.cast(b, ctx.dtype)
    axis = dim % max(a.rank, b.rank)
    turns = [ctx.weight(taeda.tensor(order)) for order in ([1, 2, 0], [2, 0, 1])]

    def turned(v: Value, k: int) -> Value:
        return ctx.op("Gather", v, turns[k], axis=axis - max(a.rank, b.rank) + v.rank)

    parts = [
        ctx.op("Mul", turned(a, k), turned(b, 1 - k), rank=max(a.rank, b.rank)) for k in (0, 1)
    ]
    return ctx.op("Sub", *parts)


@rule("_linalg_det", fresh=True)
def _det(ctx: Context, x: Value) -> Value:
    return ctx.op("Det", x, rank=x.rank - 2)
