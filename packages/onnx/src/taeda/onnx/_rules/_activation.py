"""Activations."""

from __future__ import annotations

import math
from typing import Any

import taeda

from .._context import Context, Value
from ._registry import rule


def _number(ctx: Context, value: float) -> Value:
    return ctx.number(float(value), ctx.dtype)


@rule("gelu", fresh=True)
def _gelu(ctx: Context, x: Value, approximate: str = "none") -> Value:
    if ctx.opset >= 20:
        return ctx.op("Gelu", x, approximate=approximate)
    half = ctx.op("Mul", x, _number(ctx, 0.5))
    if approximate == "none":
        inner = ctx.op("Erf", ctx.op("Div", x, _number(ctx, math.sqrt(2))))
    else:
        cube = ctx.op("Mul", ctx.op("Mul", x, ctx.op("Mul", x, x)), _number(ctx, 0.044715))
        root = _number(ctx, math.sqrt(2 / math.pi))
        inner = ctx.op("Tanh", ctx.op("Mul", ctx.op("Add", x, cube), root))
    return ctx.op("Mul", half, ctx.op("Add", inner, _number(ctx, 1)))


@rule("silu", fresh=True)
def _silu(ctx: Context, x: Value) -> Value:
    return ctx.op("Mul", x, ctx.op("Sigmoid", x))


@rule("mish", fresh=True)
def _mish(ctx: Context, x: Value) -> Value:
    return ctx.op("Mul", x, ctx.op("Tanh", ctx.op("Softplus", x)))


@rule("hardtanh", fresh=True)
def _hardtanh(ctx: Context, x: Value, min_val: Any = -1, max_val: Any = 1) -> Value:
    least, most = ctx.number(min_val, x.dtype), ctx.number(max_val, x.dtype)
    return ctx.op("Min", ctx.op("Max", x, least), most)


@rule("hardsigmoid", fresh=True)
def _hardsigmoid(ctx: Context, x: Value) -> Value:
    return ctx.op("HardSigmoid", x, alpha=1 / 6, beta=0.5)


@rule("hardswish", fresh=True)
def _hardswish(ctx: Context, x: Value) -> Value:
    return ctx.op("Mul", x, _hardsigmoid(ctx, x))


@rule("leaky_relu", fresh=True)
def _leaky_relu(ctx: Context, x: Value, negative_slope: Any = 0.01) -> Value:
    return ctx.op("LeakyRelu", x, alpha=float(negative_slope))


@rule("elu", fresh=True)
def _elu(ctx: Context, x: Value, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Value:
    below = ctx.op("Exp", ctx.op("Mul", x, _number(ctx, input_scale)))
    below = ctx.op("Mul", ctx.op("Sub", below, _number(ctx, 1)), _number(ctx, alpha * scale))
    positive = ctx.op("Greater", x, _number(ctx, 0), dtype=taeda.bool)
    above = ctx.op("Mul", x, _number(ctx, scale))
    return ctx.op("Where", positive, above, below, dtype=ctx.dtype)


@rule("celu", fresh=True)
def _celu(ctx: Context, x: Value, alpha: Any = 1.0) -> Value:
    return _elu(ctx, x, alpha, 1, 1 / alpha)


@rule("selu", fresh=True)
def _selu(ctx: Context, x: Value) -> Value:
    return _elu(ctx, x, 1.6732632423543772, 1.0507009873554805)


@rule("softplus", fresh=True)
def _softplus(ctx: Context, x: Value, beta: Any = 1, threshold: Any = 20) -> Value:
    scaled = ctx.op("Mul", x, _number(ctx, beta))
    made = ctx.op("Div", ctx.op("Softplus", scaled), _number(ctx, beta))
    far = ctx.op("Greater", scaled, _number(ctx, threshold), dtype=taeda.bool)
    return ctx.op("Where", far, x, made, dtype=ctx.dtype)


@rule("log_sigmoid", fresh=True)
def _log_sigmoid(ctx: Context, x: Value) -> Value:
    return ctx.op("Neg", ctx.op("Softplus", ctx.op("Neg", x)))


@rule("threshold", fresh=True)
def _threshold(ctx: Context, x: Value, threshold: Any, value: Any) -> Value:
    above = ctx.op("Greater", x, ctx.number(threshold, x.dtype), dtype=taeda.bool)
    return ctx.op("Where", above, x, ctx.number(value, x.dtype), dtype=x.dtype)


@rule("hardshrink", fresh=True)
def _hardshrink(ctx: Context, x: Value, lambd: Any = 0.5) -> Value:
    return ctx.op("Shrink", x, lambd=float(lambd), bias=0.0)


@rule("softshrink", fresh=True)
def _softshrink(ctx: Context, x: Value, lambd: Any = 0.5) -> Value:
    return ctx.op("Shrink", x, lambd=float(lambd), bias=float(lambd))


@rule("_prelu_kernel", fresh=True)
def _prelu(ctx: Context, x: Value, weight: Value) -> Value:
    if weight.rank == 1 and x.rank > 2:
        weight = ctx.reshape(weight, [-1, *[1] * (x.rank - 2)])
    return ctx.op("PRelu", x, weight)


@rule("softmax.int", fresh=True)
def _softmax(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    return _along(ctx, "Softmax", x, dim)


@rule("log_softmax.int", fresh=True)
def _log_softmax(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    return _along(ctx, "LogSoftmax", x, dim)


def _along(ctx: Context, kind: str, x: Value, dim: int) -> Value:
    x = ctx.cast(x, ctx.dtype)
    if x.rank:
        return ctx.op(kind, x, axis=dim)
    one = ctx.op(kind, ctx.reshape(x, [1]), axis=0)
    return ctx.reshape(one, [])
