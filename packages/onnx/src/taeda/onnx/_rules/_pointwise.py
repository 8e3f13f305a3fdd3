"""Element by element: arithmetic, comparisons, logic, choice."""

from __future__ import annotations

from typing import Any

import taeda

from .._context import Context, Value
from ._registry import rule

# rows that are one operator on floats; a result of another dtype is that of the row's promotion
_FLOAT = {
    "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sin": "Sin", "cos": "Cos", "tan": "Tan",
    "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh",
    "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "tanh": "Tanh", "sigmoid": "Sigmoid",
    "erf": "Erf", "reciprocal": "Reciprocal",
}  # fmt: skip
_SAME = {"abs": "Abs", "neg": "Neg", "relu": "Relu", "sign": "Sign", "sgn": "Sign"}
_ROUNDING = {"ceil": "Ceil", "floor": "Floor", "round": "Round"}
_COMPARISONS = {
    "eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"
}  # fmt: skip


def _one(row: str, kind: str) -> None:
    @rule(row, fresh=True)
    def apply(ctx: Context, x: Value) -> Value:
        return ctx.op(kind, ctx.cast(x, ctx.dtype))


for _row, _kind in {**_FLOAT, **_SAME}.items():
    _one(_row, _kind)


def _rounded(row: str, kind: str) -> None:
    @rule(row, fresh=True)
    def apply(ctx: Context, x: Value) -> Value:
        return ctx.op(kind, x) if x.dtype.is_floating_point else x


for _row, _kind in _ROUNDING.items():
    _rounded(_row, _kind)


@rule("trunc", fresh=True)
def _trunc(ctx: Context, x: Value) -> Value:
    if not x.dtype.is_floating_point:
        return x
    return ctx.op("Mul", ctx.op("Sign", x), ctx.op("Floor", ctx.op("Abs", x)))


@rule("rsqrt", fresh=True)
def _rsqrt(ctx: Context, x: Value) -> Value:
    return ctx.op("Reciprocal", ctx.op("Sqrt", ctx.cast(x, ctx.dtype)))


@rule("square", fresh=True)
def _square(ctx: Context, x: Value) -> Value:
    return ctx.op("Mul", x, x)


def _scaled_exp(row: str, base: float) -> None:
    @rule(row, fresh=True)
    def apply(ctx: Context, x: Value) -> Value:
        return ctx.op("Pow", ctx.number(base, ctx.dtype), ctx.cast(x, ctx.dtype))


_scaled_exp("exp2", 2.0)


def _logarithm(row: str, factor: float) -> None:
    @rule(row, fresh=True)
    def apply(ctx: Context, x: Value) -> Value:
        made = ctx.op("Log", ctx.cast(x, ctx.dtype))
        return ctx.op("Mul", made, ctx.number(factor, ctx.dtype))


_logarithm("log2", 1.4426950408889634)
_logarithm("log10", 0.4342944819032518)


# ---- two operands ----


def _pair(ctx: Context, a: Any, b: Any, dtype: taeda.dtype) -> tuple[Value, Value]:
    return ctx.tensor(a, dtype), ctx.tensor(b, dtype)


def _common(a: Any, b: Any) -> taeda.dtype:
    """The dtype in which two operands, values or numbers, are compared."""
    marks = [_mark(v) if isinstance(v, Value) else v for v in (a, b)]
    return taeda.result_type(*marks)


def _mark(value: Value) -> taeda.Tensor:
    return taeda.empty((1,) * value.rank, dtype=value.dtype, device="meta")


def _arithmetic(ctx: Context, kind: str, a: Any, b: Any) -> Value:
    left, right = _pair(ctx, a, b, ctx.dtype)
    if ctx.dtype == taeda.bool:
        kind = {"Add": "Or", "Mul": "And"}[kind]
    return ctx.op(kind, left, right)


def _times(ctx: Context, value: Any, alpha: Any) -> Any:
    if alpha == 1:
        return value
    return ctx.op("Mul", ctx.tensor(value, ctx.dtype), ctx.tensor(alpha, ctx.dtype))


@rule("add.Tensor", fresh=True)
def _add(ctx: Context, a: Any, b: Any, alpha: Any = 1) -> Value:
    return _arithmetic(ctx, "Add", a, _times(ctx, b, alpha))


@rule("sub.Tensor", fresh=True)
def _sub(ctx: Context, a: Any, b: Any, alpha: Any = 1) -> Value:
    return _arithmetic(ctx, "Sub", a, _times(ctx, b, alpha))


@rule("mul.Tensor", fresh=True)
def _mul(ctx: Context, a: Any, b: Any) -> Value:
    return _arithmetic(ctx, "Mul", a, b)


@rule("div.Tensor", fresh=True)
def _div(ctx: Context, a: Any, b: Any) -> Value:
    return ctx.op("Div", *_pair(ctx, a, b, ctx.dtype))


@rule("div.Tensor_mode", fresh=True)
def _div_mode(ctx: Context, a: Any, b: Any, rounding_mode: str | None = None) -> Value:
    if rounding_mode is None:
        return _div(ctx, a, b)
    left, right = _pair(ctx, a, b, ctx.dtype)
    if ctx.dtype.is_floating_point:
        made = ctx.op("Div", left, right)
        return ctx.op("Floor", made) if rounding_mode == "floor" else _trunc(ctx, made)
    made = ctx.op("Div", left, right)  # integers: towards zero
    return made if rounding_mode == "trunc" else _floored(ctx, left, right, made)


@rule("floor_divide", fresh=True)
def _floor_divide(ctx: Context, a: Any, b: Any) -> Value:
    return _div_mode(ctx, a, b, "floor")


def _floored(ctx: Context, a: Value, b: Value, made: Value) -> Value:
    """The quotient of integers, one less where the signs differ and something is left."""
    zero = ctx.number(0, a.dtype)
    rest = ctx.op("Sub", a, ctx.op("Mul", made, b))
    left = ctx.op("Not", ctx.op("Equal", rest, zero, dtype=taeda.bool))
    signs = ctx.op("Less", rest, zero, dtype=taeda.bool), ctx.op("Less", b, zero, dtype=taeda.bool)
    less = ctx.op("And", left, ctx.op("Xor", *signs))
    return ctx.op("Sub", made, ctx.cast(less, a.dtype))


@rule("remainder.Tensor", fresh=True)
def _remainder(ctx: Context, a: Any, b: Any) -> Value:
    left, right = _pair(ctx, a, b, ctx.dtype)
    if not ctx.dtype.is_floating_point:
        return ctx.op("Mod", left, right, fmod=0)
    made = ctx.op("Mod", left, right, fmod=1)  # has the sign of the dividend
    zero = ctx.number(0.0, ctx.dtype)
    signs = [ctx.op("Less", v, zero, dtype=taeda.bool) for v in (made, right)]
    left_over = ctx.op("Not", ctx.op("Equal", made, zero, dtype=taeda.bool))
    other = ctx.op("And", left_over, ctx.op("Xor", *signs))
    return ctx.op("Where", other, ctx.op("Add", made, right), made, dtype=ctx.dtype)


@rule("fmod.Tensor", fresh=True)
def _fmod(ctx: Context, a: Any, b: Any) -> Value:
    return ctx.op("Mod", *_pair(ctx, a, b, ctx.dtype), fmod=1)


@rule("pow.Tensor_Tensor", fresh=True)
def _pow(ctx: Context, a: Any, b: Any) -> Value:
    return ctx.op("Pow", *_pair(ctx, a, b, ctx.dtype))


def _extreme(rows: tuple[str, ...], kind: str) -> None:
    @rule(*rows, fresh=True)
    def apply(ctx: Context, a: Any, b: Any) -> Value:
        return ctx.op(kind, *_pair(ctx, a, b, ctx.dtype))


_extreme(("maximum",), "Max")
_extreme(("minimum",), "Min")


@rule("clamp", fresh=True)
def _clamp(ctx: Context, x: Value, min: Any = None, max: Any = None) -> Value:
    made = ctx.cast(x, ctx.dtype)
    if min is not None:
        made = ctx.op("Max", made, ctx.tensor(min, ctx.dtype))
    return made if max is None else ctx.op("Min", made, ctx.tensor(max, ctx.dtype))


@rule("clamp_min", fresh=True)
def _clamp_min(ctx: Context, x: Value, min: Any) -> Value:
    return _clamp(ctx, x, min)


@rule("clamp_max", fresh=True)
def _clamp_max(ctx: Context, x: Value, max: Any) -> Value:
    return _clamp(ctx, x, None, max)


# ---- comparisons, logic ----


def _compares(ctx: Context, kind: str, a: Any, b: Any) -> Value:
    dtype = _common(a, b)
    if dtype == taeda.bool and kind != "Equal":
        dtype = taeda.int32
    return ctx.op(kind, *_pair(ctx, a, b, dtype), dtype=taeda.bool)


def _comparison(row: str, kind: str) -> None:
    @rule(f"{row}.Tensor", fresh=True)
    def apply(ctx: Context, a: Any, b: Any) -> Value:
        return _compares(ctx, kind, a, b)


for _row, _kind in _COMPARISONS.items():
    _comparison(_row, _kind)


@rule("ne.Tensor", fresh=True)
def _ne(ctx: Context, a: Any, b: Any) -> Value:
    return ctx.op("Not", _compares(ctx, "Equal", a, b))


def _truth(ctx: Context, value: Any) -> Value:
    return ctx.tensor(value, taeda.bool)


def _logic(row: str, kind: str) -> None:
    @rule(f"logical_{row}", fresh=True)
    def logical(ctx: Context, a: Any, b: Any) -> Value:
        return ctx.op(kind, _truth(ctx, a), _truth(ctx, b))

    @rule(f"bitwise_{row}.Tensor", fresh=True)
    def bitwise(ctx: Context, a: Any, b: Any) -> Value:
        if ctx.dtype == taeda.bool:
            return ctx.op(kind, _truth(ctx, a), _truth(ctx, b))
        if ctx.opset < 18:
            raise ctx.refuse("bits of integers have operators from opset 18 on")
        return ctx.op(f"Bitwise{kind}", *_pair(ctx, a, b, ctx.dtype))


for _row, _kind in {"and": "And", "or": "Or", "xor": "Xor"}.items():
    _logic(_row, _kind)


@rule("logical_not", fresh=True)
def _logical_not(ctx: Context, x: Value) -> Value:
    return ctx.op("Not", _truth(ctx, x))


@rule("bitwise_not", fresh=True)
def _bitwise_not(ctx: Context, x: Value) -> Value:
    if x.dtype == taeda.bool:
        return ctx.op("Not", x)
    if ctx.opset < 18:
        raise ctx.refuse("bits of integers have operators from opset 18 on")
    return ctx.op("BitwiseNot", x)


def _asks(row: str, kind: str, **flags: int) -> None:
    @rule(row, fresh=True)
    def apply(ctx: Context, x: Value) -> Value:
        floats = x if x.dtype.is_floating_point else ctx.cast(x, taeda.float32)
        return ctx.op(kind, floats, dtype=taeda.bool, **flags)


_asks("isnan", "IsNaN")
_asks("isinf", "IsInf")
_asks("isposinf", "IsInf", detect_negative=0)
_asks("isneginf", "IsInf", detect_positive=0)


@rule("where.self", fresh=True)
def _where(ctx: Context, condition: Value, a: Any, b: Any) -> Value:
    chosen = _pair(ctx, a, b, ctx.dtype)
    return ctx.op("Where", ctx.cast(condition, taeda.bool), *chosen, dtype=ctx.dtype)


@rule("masked_fill.Scalar", fresh=True)
def _masked_fill(ctx: Context, x: Value, mask: Value, value: Any) -> Value:
    return ctx.op("Where", mask, ctx.tensor(value, x.dtype), x, dtype=x.dtype)


@rule("lerp.Tensor", fresh=True)
def _lerp(ctx: Context, a: Value, b: Value, weight: Any) -> Value:
    part = ctx.op("Mul", ctx.op("Sub", b, a), ctx.tensor(weight, ctx.dtype))
    return ctx.op("Add", a, part)


@rule("addcmul", fresh=True)
def _addcmul(ctx: Context, x: Value, a: Value, b: Value, value: Any = 1) -> Value:
    x, a, b = (ctx.cast(v, ctx.dtype) for v in (x, a, b))
    return ctx.op("Add", x, _times(ctx, ctx.op("Mul", a, b), value))


@rule("addcdiv", fresh=True)
def _addcdiv(ctx: Context, x: Value, a: Value, b: Value, value: Any = 1) -> Value:
    x, a, b = (ctx.cast(v, ctx.dtype) for v in (x, a, b))
    return ctx.op("Add", x, ctx.op("Div", _times(ctx, a, value), b))
