"""Functions of each element: they compute on the packed values."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import arguments_by_name

from .._graph import built, compact, entries
from .._parts import is_nested, parts_of
from ._registry import call, rule, together

ROWS = """
    abs acos acosh add.Tensor addcdiv addcmul angle asin asinh atan atan2 atanh bitwise_and.Tensor
    bitwise_left_shift.Tensor bitwise_not bitwise_or.Tensor bitwise_right_shift.Tensor bitwise_xor.Tensor ceil
    celu clamp clamp_max clamp_min conj_physical copysign.Tensor cos cosh deg2rad digamma div.Tensor
    div.Tensor_mode elu eq.Tensor erf erfc erfinv exp exp2 expm1 float_power.Tensor_Tensor floor floor_divide
    fmax fmin fmod.Tensor frac gcd ge.Tensor gelu gt.Tensor hardshrink hardsigmoid hardswish hardtanh
    heaviside hypot i0 isclose isfinite isinf isnan isneginf isposinf lcm le.Tensor leaky_relu
    lerp.Tensor lgamma log log10 log1p log2 log_sigmoid logaddexp logaddexp2 logical_and logical_not
    logical_or logical_xor logit lt.Tensor masked_fill.Scalar masked_fill.Tensor maximum max.other minimum
    min.other mish mul.Tensor nan_to_num ne.Tensor neg nextafter positive pow.Tensor_Tensor rad2deg
    reciprocal relu relu6 remainder.Tensor round round.decimals rsqrt rsub.Tensor selu sgn sigmoid sign
    signbit silu sin sinc sinh softplus softshrink softsign sqrt square sub.Tensor tan tanh tanhshrink
    threshold trunc where.self xlogy.Tensor __and__ __or__ __xor__
""".split()


def _register(row: str) -> None:
    function = call(row)

    @rule(row)
    def run(*args: Any) -> Tensor:
        parts, plain = together(row, args)
        made: Tensor = function(**arguments_by_name(row, plain))
        return built(parts, made)


for _row in ROWS:
    _register(_row)


# ---- copies ----


@rule("detach")
def detach(x: Tensor) -> Tensor:
    parts, values = entries(x)
    return built(parts, values.detach())


@rule("alias")
def alias(x: Tensor) -> Tensor:
    return built(*entries(x))


@rule("clone", "contiguous")
def clone(x: Tensor, memory_format: Any = None) -> Tensor:
    """A copy without holes. Its raggedness is that of `x`."""
    parts, values = compact(x)
    return built(parts, values.clone())


@rule("_to_copy")
def to_copy(
    x: Tensor,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Another dtype or device. The raggedness stays, that of the offsets on the other device too."""
    parts, values = entries(x)
    options = {"dtype": dtype or x.dtype, "device": device or values.device}
    return built(
        parts.on(options["device"]), values.to(**options, non_blocking=non_blocking, copy=True)
    )


# ---- comparisons of all elements ----


def _compared(row: str) -> None:
    function = call(row)

    @rule(row)
    def run(x: Tensor, y: Tensor, *args: Any) -> Any:
        if not is_nested(x) or not is_nested(y):
            return False if row == "equal" else NotImplemented
        if row == "equal" and parts_of(x).counts() != parts_of(y).counts():
            return False
        _, (a, b) = together(
            row, (x, built(compact(x)[0], compact(y)[1])) if _alike(x, y) else (x, y)
        )
        return function(a, b, *args)


def _alike(x: Tensor, y: Tensor) -> bool:
    """Are the lengths the same, whatever the offsets?"""
    own, other = parts_of(x), parts_of(y)
    return own.counts() == other.counts() and own.ragged == other.ragged and x.dim() == y.dim()


for _row in ("equal", "allclose"):
    _compared(_row)


def _like(row: str) -> None:
    function = call(row)

    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        named = arguments_by_name(row, (x, *args))
        if named.get("layout") is not None or named.get("pin_memory"):
            return NotImplemented
        parts, values = together(row, [x])
        named["self"] = values[0].detach()
        return built(parts, function(**named))


for _row in ("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"):
    _like(_row)


@rule("dropout")
def dropout(x: Tensor, p: float, train: bool) -> Any:
    if not is_nested(x):
        return NotImplemented
    parts, values = together("dropout", [x])
    return built(parts, taeda.dropout(values[0], p, train))
