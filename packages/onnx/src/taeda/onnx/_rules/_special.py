"""Functions of one element or two that ONNX has no operator for, as formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import taeda

from .._context import Context, Value
from ._pointwise import _pair, _times
from ._registry import rule


class Formula:
    """Operators of ONNX on values of one dtype; numbers become constants of it."""

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.dtype = ctx, ctx.dtype

    def __getattr__(self, kind: str) -> Callable[..., Value]:
        def made(*args: Any) -> Value:
            return self.ctx.op(kind, *(self.value(a) for a in args), rank=_rank(args))

        return made

    def value(self, value: Any) -> Value:
        """A value, or a number of this dtype."""
        return value if isinstance(value, Value) else self.ctx.number(value, self.dtype)

    def asks(self, kind: str, *args: Any) -> Value:
        """A comparison: its result is a truth value."""
        return self.ctx.op(kind, *(self.value(a) for a in args), dtype=taeda.bool, rank=_rank(args))

    def where(self, condition: Value, a: Any, b: Any) -> Value:
        """`a` where the condition holds, else `b`."""
        given = (condition, self.value(a), self.value(b))
        return self.ctx.op("Where", *given, dtype=self.dtype, rank=_rank(given))

    def log1p(self, x: Value) -> Value:
        """The logarithm of 1 + x, exact near 0 too."""
        near = self.Mul(2.0, self.Atanh(self.Div(x, self.Add(x, 2.0))))
        small = self.asks("Less", self.Abs(x), 0.5)
        return self.where(small, near, self.Log(self.Add(1.0, x)))

    def negative(self, x: Value) -> Value:
        """Whether the sign is a minus, that of -0.0 too."""
        if not x.dtype.is_floating_point:
            return self.ctx.op("Less", x, self.ctx.number(0, x.dtype), dtype=taeda.bool)
        less = self.ctx.op("Less", x, self.ctx.number(0.0, x.dtype), dtype=taeda.bool)
        least = self.ctx.number(-math.inf, x.dtype)
        zero = self.ctx.op("Equal", self.ctx.op("Reciprocal", x), least, dtype=taeda.bool)
        return self.ctx.op("Or", less, zero)


def _rank(args: Any) -> int:
    return max((a.rank for a in args if isinstance(a, Value)), default=0)


def _one(row: str, formula: Callable[[Formula, Value], Value]) -> None:
    @rule(row, fresh=True)
    def apply(ctx: Context, x: Value) -> Value:
        return formula(Formula(ctx), ctx.cast(x, ctx.dtype))


def _two(row: str, formula: Callable[[Formula, Value, Value], Value]) -> None:
    @rule(row, fresh=True)
    def apply(ctx: Context, a: Any, b: Any) -> Value:
        return formula(Formula(ctx), *_pair(ctx, a, b, ctx.dtype))


_one("erfc", lambda f, x: f.Sub(1.0, f.Erf(x)))
_one("expm1", lambda f, x: f.Mul(f.Tanh(f.Mul(x, 0.5)), f.Add(f.Exp(x), 1.0)))
_one("log1p", Formula.log1p)
_one("deg2rad", lambda f, x: f.Mul(x, math.pi / 180))
_one("rad2deg", lambda f, x: f.Mul(x, 180 / math.pi))
_one("special_ndtr", lambda f, x: f.Mul(0.5, f.Add(1.0, f.Erf(f.Mul(x, math.sqrt(0.5))))))
_one("frac", lambda f, x: f.Sub(x, f.Mul(f.Sign(x), f.Floor(f.Abs(x)))))


@rule("sinc", fresh=True)
def _sinc(ctx: Context, x: Value) -> Value:
    f = Formula(ctx)
    scaled = f.Mul(ctx.cast(x, ctx.dtype), math.pi)
    return f.where(f.asks("Equal", scaled, 0.0), 1.0, f.Div(f.Sin(scaled), scaled))


@rule("special_entr", fresh=True)
def _entr(ctx: Context, x: Value) -> Value:
    f, x = Formula(ctx), ctx.cast(x, ctx.dtype)
    inside = f.where(f.asks("Equal", x, 0.0), 0.0, f.Neg(f.Mul(x, f.Log(x))))
    return f.where(f.asks("Less", x, 0.0), -math.inf, inside)


@rule("isfinite", fresh=True)
def _isfinite(ctx: Context, x: Value) -> Value:
    if not x.dtype.is_floating_point:
        return ctx.op("Equal", x, x, dtype=taeda.bool)
    kinds = (ctx.op(kind, x, dtype=taeda.bool) for kind in ("IsNaN", "IsInf"))
    return ctx.op("Not", ctx.op("Or", *kinds))


@rule("signbit", fresh=True)
def _signbit(ctx: Context, x: Value) -> Value:
    return Formula(ctx).negative(x)


@rule("angle", fresh=True)
def _angle(ctx: Context, x: Value) -> Value:
    if x.dtype.is_complex:
        raise ctx.refuse("runtimes have no operators for complex numbers")
    f, x = Formula(ctx), ctx.cast(x, ctx.dtype)
    made = f.where(f.asks("Less", x, 0.0), math.pi, 0.0)
    return f.where(f.asks("IsNaN", x), math.nan, made)


@rule("logit", fresh=True)
def _logit(ctx: Context, x: Value, eps: float | None = None) -> Value:
    f, x = Formula(ctx), ctx.cast(x, ctx.dtype)
    if eps is not None:
        x = f.Min(f.Max(x, eps), 1 - eps)
    return f.Log(f.Div(x, f.Sub(1.0, x)))


@rule("nan_to_num", fresh=True)
def _nan_to_num(
    ctx: Context,
    x: Value,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Value:
    if not x.dtype.is_floating_point:
        return ctx.op("Identity", x)
    f, limits = Formula(ctx), taeda.finfo(x.dtype)
    most = limits.max if posinf is None else posinf
    least = limits.min if neginf is None else neginf
    made = f.where(f.asks("Equal", x, math.inf), most, x)
    made = f.where(f.asks("Equal", x, -math.inf), least, made)
    return f.where(f.asks("IsNaN", x), 0.0 if nan is None else nan, made)


# ---- of two ----


def _logaddexp(f: Formula, a: Value, b: Value) -> Value:
    apart = f.where(f.asks("Equal", a, b), 0.0, f.Sub(a, b))  # infinities too
    return f.Add(f.Max(a, b), f.log1p(f.Exp(f.Neg(f.Abs(apart)))))


_two("logaddexp", _logaddexp)
_two(
    "logaddexp2",
    lambda f, a, b: f.Div(_logaddexp(f, f.Mul(a, math.log(2)), f.Mul(b, math.log(2))), math.log(2)),
)
_two("copysign.Tensor", lambda f, a, b: f.where(f.negative(b), f.Neg(f.Abs(a)), f.Abs(a)))
_two(
    "heaviside",
    lambda f, a, b: f.where(f.asks("Equal", a, 0), b, f.where(f.asks("Greater", a, 0), 1, 0)),
)
_two("float_power.Tensor_Tensor", lambda f, a, b: f.Pow(a, b))


@rule("fmax", "fmin", fresh=True)
def _without_nan(ctx: Context, a: Any, b: Any) -> Value:
    assert ctx.node is not None
    kind = "Max" if "fmax" in str(ctx.node.target) else "Min"
    f, (left, right) = Formula(ctx), _pair(ctx, a, b, ctx.dtype)
    made = ctx.op(kind, left, right, rank=_rank((left, right)))
    if not ctx.dtype.is_floating_point:
        return made
    made = f.where(f.asks("IsNaN", right), left, made)
    return f.where(f.asks("IsNaN", left), right, made)


@rule("hypot", fresh=True)
def _hypot(ctx: Context, a: Any, b: Any) -> Value:
    f = Formula(ctx)
    left, right = (f.Abs(v) for v in _pair(ctx, a, b, ctx.dtype))
    most, least = f.Max(left, right), f.Min(left, right)
    part = f.where(f.asks("Equal", least, 0.0), 0.0, f.Div(least, most))
    return f.Mul(most, f.Sqrt(f.Add(1.0, f.Mul(part, part))))


@rule("atan2", fresh=True)
def _atan2(ctx: Context, a: Any, b: Any) -> Value:
    f, (y, x) = Formula(ctx), _pair(ctx, a, b, ctx.dtype)
    below = f.negative(y)
    half = f.where(below, -math.pi / 2, math.pi / 2)
    whole = f.where(below, -math.pi, math.pi)
    base = f.Atan(f.Div(y, x))
    turned = f.where(f.negative(x), f.Add(base, whole), base)
    level = f.where(f.negative(x), whole, f.Mul(y, 1.0))  # y is 0, of this sign
    upright = f.where(f.asks("Equal", y, 0.0), level, half)
    made = f.where(f.asks("Equal", x, 0.0), upright, turned)
    return f.where(f.asks("IsNaN", y), math.nan, made)


def _times_log(row: str, logarithm: Callable[[Formula, Value], Value]) -> None:
    @rule(row, fresh=True)
    def apply(ctx: Context, a: Any, b: Any) -> Value:
        f, (x, y) = Formula(ctx), _pair(ctx, a, b, ctx.dtype)
        made = f.where(f.asks("Equal", x, 0.0), 0.0, f.Mul(x, logarithm(f, y)))
        return f.where(f.asks("IsNaN", y), math.nan, made)


_times_log("xlogy.Tensor", lambda f, y: f.Log(y))
_times_log("special_xlog1py", Formula.log1p)


@rule("rsub.Tensor", fresh=True)
def _rsub(ctx: Context, a: Any, b: Any, alpha: Any = 1) -> Value:
    left = ctx.tensor(_times(ctx, a, alpha), ctx.dtype)
    return ctx.op("Sub", ctx.tensor(b, ctx.dtype), left)


def _shift(row: str, left: bool) -> None:
    @rule(f"bitwise_{row}_shift.Tensor", fresh=True)
    def apply(ctx: Context, a: Any, b: Any) -> Value:
        value, count = _pair(ctx, a, b, ctx.dtype)
        rank = max(value.rank, count.rank)
        power = ctx.op("Pow", ctx.number(2, ctx.dtype), count, rank=count.rank)
        if left:
            return ctx.op("Mul", value, power, rank=rank)
        rest = ctx.op("Mod", value, power, rank=rank)
        return ctx.op("Div", ctx.op("Sub", value, rest, rank=rank), power, rank=rank)


_shift("left", True)
_shift("right", False)
