"""Functions of single elements: samples are lined up behind each other, and one call serves all."""

from __future__ import annotations

from functools import cache
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.trees import tensors_in

from ._batched import WIDE, Level, rank
from ._registry import Decline, rule, rules

__all__ = ["elementwise", "lined_up"]

#: those beside the rows of the family: operators as methods, copies and conversions, what is
#: written in elementwise functions
_MORE = """
    iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift radd rmul rtruediv
    rfloordiv rmod rpow rand ror rxor rlshift rrshift rdiv idiv true_divide divide multiply subtract
    negative absolute pos isclose masked_fill fill fill_ zero_ copy_ clone detach alias contiguous
    to type type_as float double half bfloat16 int long short char byte bool cfloat cdouble cpu
    requires_grad_ conj _conj resolve_conj resolve_neg real imag zeros_like ones_like empty_like
    full_like logsigmoid softsign tanhshrink prelu_scalar polar complex dropout native_dropout rrelu
    _to_copy get.real get.imag detach_ get.data max.other
""".split()


def _category(dtype: Any) -> int:
    return (
        3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype is taeda.bool else 1
    )


def _promoted(level: Level, values: list[Any], ranks: list[int]) -> Any:
    """The type that single samples without dimensions must take first, or None.

    Such a sample gives way to a tensor with dimensions of its kind; all of them together have a
    dimension, and would not.
    """
    if not any(level.on(v) and r == 0 for v, r in zip(values, ranks, strict=True)):
        return None
    if len({v.dtype for v in values}) < 2 or max(ranks) == 0:
        return None
    common = values[0].dtype
    dimmed = [v.dtype for v, r in zip(values, ranks, strict=True) if r > 0]
    common = dimmed[0]
    for dtype in dimmed[1:]:
        common = _core.promote(common, dtype)
    return common


def lined_up(level: Level, args: Any, kwargs: Any, cast: bool = True) -> tuple[Any, Any]:
    """The arguments with all samples, which broadcast as single ones do; without `cast` in the
    types that they have.
    """
    tensors = list(tensors_in((args, kwargs)))
    ranks = [rank(v) for v in tensors]
    wanted = max(ranks)
    common = _promoted(level, tensors, ranks) if cast and len(tensors) > 1 else None

    def change(value: Any) -> Any:
        if level.on(value):
            made = level.padded(value, wanted)
            if (
                common is not None
                and rank(value) == 0
                and _category(made.dtype) == _category(common)
            ):
                made = made.to(common)
            return made
        if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
            return type(value)(map(change, value))
        return value

    return tuple(map(change, args)), {name: change(value) for name, value in kwargs.items()}


def _rounds_numbers(func: Any) -> bool:
    """Does the operation round a number to the short floats beside it, as it compares or chooses?"""
    name = func.__name__.strip("_")
    return _ALIASES.get(name, name) in _rounding()


@cache
def _rounding() -> set[str]:
    flag = _core.row_flags["ROUNDS_NUMBERS"]
    return {row[0].partition(".")[0] for row in _core.op_rows() if row[5] & flag}


def elementwise(level: Level, func: Any, *args: Any, **kwargs: Any) -> Any:
    """The rule of all of them."""
    tensors = list(tensors_in((args, kwargs)))
    common = _promoted(level, tensors, [rank(v) for v in tensors]) if len(tensors) > 1 else None
    if common in WIDE and not _rounds_numbers(func):
        return _widely(level, func, args, kwargs, common)
    args, kwargs = lined_up(level, args, kwargs)
    return func(*args, **kwargs)


def _widely(level: Level, func: Any, args: Any, kwargs: Any, common: Any) -> Any:
    """In the wider type, rounded once: so a number is used beside short floats where there are no
    samples.
    """
    wide = WIDE[common]

    def widened(value: Any) -> Any:
        gives = (
            isinstance(value, Tensor)
            and value.dtype is not wide
            and value.dtype in (taeda.float64, common)
        )
        return value.to(wide) if gives else value

    given, named = lined_up(level, args, kwargs, cast=False)
    changed = tuple(map(widened, given))
    made = func(*changed, **{name: widened(value) for name, value in named.items()})
    if made is changed[0]:  # written in place
        return given[0].copy_(made)
    return made.to(common) if isinstance(made, Tensor) and made.dtype is wide else made


def _register() -> None:
    names = {row[0].partition(".")[0] for row in _core.op_rows() if "pointwise" in row[1:3]}
    for name in (*names, *_MORE):
        for spelling in (name, f"{name}_", f"special.{name}"):
            rules.setdefault(spelling, elementwise)
    for alias, name in _ALIASES.items():
        for spelling in (alias, f"{alias}_"):
            rules.setdefault(spelling, rules[name])


_ALIASES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "clip": "clamp",
    "fix": "trunc", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le",
    "not_equal": "ne",
}  # fmt: skip


@rule("fill", "fill_")
def _fill(level: Level, func: Any, x: Any, value: Any) -> Any:
    if not level.on(value):
        return func(level.value(x), value)
    if rank(value):
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {rank(value)} dimensions."
        )
    target = level.value(x) if func.__name__ == "fill_" else taeda.empty_like(level.full(x))
    return target.copy_(level.padded(value, rank(x)))


@rule("masked_fill", "masked_fill_")
def _masked_fill(level: Level, func: Any, x: Any, mask: Any, value: Any) -> Any:
    if not level.on(value):
        return elementwise(level, func, x, mask, value)
    if rank(value):
        raise Decline
    (whole, where, filling), _ = lined_up(level, (x, mask, value), {})
    made = taeda.where(where, filling.to(whole.dtype), whole)
    return whole.copy_(made) if func.__name__ == "masked_fill_" else made


@rule("copy_", "ldexp", "ldexp_")
def _of_the_first(level: Level, func: Any, x: Any, other: Any, *args: Any, **kwargs: Any) -> Any:
    """The result has the shape of the first, which no other may widen."""
    if rank(other) > rank(x):
        raise Decline
    return elementwise(level, func, x, other, *args, **kwargs)


@rule("prelu")
def _prelu(level: Level, func: Any, x: Any, weight: Any) -> Any:
    """One slope a channel, which is dimension 1 of a sample."""
    if not isinstance(weight, Tensor) or not isinstance(x, Tensor):
        raise TypeError
    if rank(weight) > 1:
        raise Decline
    own = rank(x)
    shape = [1] * own
    count = weight.numel()
    channels = x.shape[1] if own >= 2 else 1
    if count not in (1, channels):
        raise RuntimeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} "
            f"and channel size = {channels}."
        )
    if own >= 2:
        shape[1] = count
    slope = weight.reshape(shape)
    zero = taeda.zeros((), dtype=x.dtype)
    return level.value(taeda.where(x > zero, x, x * slope))


_register()
