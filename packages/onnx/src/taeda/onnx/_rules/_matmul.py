"""Products of matrices, embeddings, attention."""

from __future__ import annotations

import math
from typing import Any

import taeda

from .._context import Context, Value
from ._registry import rule


@rule("linear", fresh=True)
def _linear(ctx: Context, x: Value, weight: Value, bias: Value | None = None) -> Value:
    if x.rank == 2 and bias is not None:
        return ctx.op("Gemm", x, weight, bias, transB=1)
    turned = ctx.op("Transpose", weight, perm=[1, 0]) if weight.rank == 2 else weight
    made = ctx.op("MatMul", x, turned)
    return made if bias is None else ctx.op("Add", made, bias)


@rule("bmm", "matmul", "mm", "mv", "dot", fresh=True)
def _matmul(ctx: Context, a: Value, b: Value) -> Value:
    return ctx.op("MatMul", a, b, rank=len(ctx.sizes()))


@rule("addmm", "baddbmm", "addmv", fresh=True)
def _addmm(ctx: Context, x: Value, a: Value, b: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    made = ctx.op("MatMul", a, b)
    if alpha != 1:
        made = ctx.op("Mul", made, ctx.number(alpha, made.dtype))
    if beta == 0:  # what x holds, NaN too, does not count
        return made
    if beta != 1:
        x = ctx.op("Mul", x, ctx.number(beta, x.dtype))
    return ctx.op("Add", x, made, rank=len(ctx.sizes()))


@rule("embedding", fresh=True)
def _embedding(
    ctx: Context,
    weight: Value,
    indices: Value,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Value:
    return ctx.op("Gather", weight, indices, axis=0, rank=len(ctx.sizes()))


@rule("scaled_dot_product_attention", fresh=True)
def _attention(
    ctx: Context,
    q: Value,
    k: Value,
    v: Value,
    attn_mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    if dropout_p:
        raise ctx.refuse("attention with dropout has random results: export in eval mode")
    if enable_gqa:
        raise ctx.refuse("heads of keys that are shared: repeat them with repeat_interleave")
    if scale is None:
        width = q.sizes[-1]
        if width is None:
            raise ctx.refuse("attention of a width that differs from call to call: give `scale`")
        scale = 1 / math.sqrt(width)
    order = [*range(k.rank - 2), k.rank - 1, k.rank - 2]
    scores = ctx.op("MatMul", q, ctx.op("Transpose", k, perm=order))
    scores = ctx.op("Mul", scores, ctx.number(float(scale), q.dtype))
    if is_causal:
        scores = _masked(ctx, scores, _causal(ctx, q, k))
    if attn_mask is not None:
        truth = attn_mask.dtype == taeda.bool
        add = not truth and ctx.op("Add", scores, ctx.cast(attn_mask, q.dtype))
        scores = add or _masked(ctx, scores, attn_mask)
    made = ctx.op("Softmax", scores, axis=-1)
    if is_causal or attn_mask is not None:  # a row in which nothing counts is 0, and not NaN
        made = _masked_rows(ctx, scores, made)
    return ctx.op("MatMul", made, v)


def _masked(ctx: Context, scores: Value, kept: Value) -> Value:
    least, dtype = ctx.number(-math.inf, scores.dtype), scores.dtype
    return ctx.op("Where", kept, scores, least, dtype=dtype, rank=scores.rank)


def _causal(ctx: Context, q: Value, k: Value) -> Value:
    """A key counts for the queries from its own position on."""
    rows, columns = _positions(ctx, q), _positions(ctx, k)
    rows = ctx.op("Unsqueeze", rows, ctx.integers([1]), rank=2)
    return ctx.op("LessOrEqual", columns, rows, dtype=taeda.bool, rank=2)


def _positions(ctx: Context, x: Value) -> Value:
    end = ctx.tensor(ctx.size(x, -2), taeda.int64)
    zero, one = ctx.number(0, taeda.int64), ctx.number(1, taeda.int64)
    return ctx.op("Range", zero, end, one, rank=1)


def _masked_rows(ctx: Context, scores: Value, made: Value) -> Value:
    dtype = scores.dtype
    if ctx.opset < 18:
        most = ctx.op("ReduceMax", scores, axes=[-1], keepdims=1)
    else:
        most = ctx.op("ReduceMax", scores, ctx.integers([-1]), keepdims=1)
    empty = ctx.op("Equal", most, ctx.number(-math.inf, dtype), dtype=taeda.bool)
    return ctx.op("Where", empty, ctx.number(0.0, dtype), made, dtype=dtype, rank=made.rank)


@rule("_bag_sums", fresh=True)
def _bag_sums(ctx: Context, weight: Value, indices: Value, edges: Value) -> Value:
    """Bags lie behind each other, so each is a difference of running sums."""
    rows = ctx.op("Gather", weight, indices, axis=0, rank=2)
    sums = ctx.op("CumSum", rows, ctx.number(0, taeda.int64))
    sums = ctx.op("Pad", sums, ctx.integers([1, 0, 0, 0]))
    places = [ctx.integers([n]) for n in (0, 1, -1, (1 << 63) - 1)]
    starts = ctx.op("Slice", edges, places[0], places[2])
    ends = ctx.op("Slice", edges, places[1], places[3])
    parts = [ctx.op("Gather", sums, places, axis=0, rank=2) for places in (ends, starts)]
    return ctx.op("Sub", *parts)
