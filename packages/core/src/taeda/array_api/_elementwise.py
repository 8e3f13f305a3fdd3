"""Functions of single elements."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._common import named, pair, wide

_UNARY = {
    name: name
    for name in """
    abs acos acosh asin asinh atan atanh cos cosh exp expm1 imag isfinite isinf isnan log log1p
    log10 log2 logical_not real reciprocal signbit sin sinh sqrt square tan tanh
    """.split()
} | {"bitwise_invert": "bitwise_not", "sign": "sgn"}
_BINARY = {
    name: name
    for name in """
    add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign
    floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or
    logical_xor maximum minimum nextafter not_equal pow remainder subtract multiply divide
    """.split()
} | {"equal": "eq"}
_WHOLE = ("ceil", "floor", "round", "trunc")  # integers stay as they are

_PLAIN_UNSIGNED = {"abs", "sign"}
_WRAPPING = {"add", "subtract", "multiply", "pow", "bitwise_left_shift"}

__all__ = [*_UNARY, *_BINARY, *_WHOLE, "clip", "conj", "negative", "positive"]  # noqa: PLE0604 - names from the tables above


def _unary(name: str, op: str) -> Any:
    function = getattr(taeda, op)

    def call(x: Tensor, /) -> Tensor:
        if name in _PLAIN_UNSIGNED and x.dtype is taeda.uint64:
            return x.clone() if name == "abs" else (x != 0).to(taeda.uint64)
        return wide(function, x, wraps=name == "square")

    return named(name, call, f"`taeda.{op}` of each element.")


def _binary(name: str, op: str) -> Any:
    function = getattr(taeda, op)

    def call(x1: Any, x2: Any, /) -> Tensor:
        return wide(function, *pair(x1, x2), wraps=name in _WRAPPING)

    return named(
        name, call, f"`taeda.{op}` of pairs of elements, in the dtype that both are promoted to."
    )


def _whole(name: str) -> Any:
    function = getattr(taeda, name)

    def call(x: Tensor, /) -> Tensor:
        if x.dtype.is_complex:
            return taeda.complex(function(x.real), function(x.imag))
        return function(x) if x.dtype.is_floating_point else x.clone()

    return named(name, call, f"`taeda.{name}` of each element; integers stay what they are.")


globals().update({name: _unary(name, op) for name, op in _UNARY.items()})
globals().update({name: _binary(name, op) for name, op in _BINARY.items()})
globals().update({name: _whole(name) for name in _WHOLE})


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Each element held between bounds, which broadcast; the dtype is that of x.

    >>> taeda.array_api.clip(taeda.tensor([1, 5, 9]), 2, 6)
    tensor([2, 5, 6])
    """
    bounds = [b.to(x.dtype) if isinstance(b, Tensor) else b for b in (min, max)]
    bounds = [
        None if b is None else taeda.as_tensor(b, dtype=x.dtype, device=x.device) for b in bounds
    ]
    shape = taeda.broadcast_shapes(x.shape, *(b.shape for b in bounds if b is not None))
    x = x.expand(shape).clone()
    if bounds == [None, None]:
        return x
    given = {n: b for n, b in zip(("min", "max"), bounds, strict=True) if b is not None}
    return wide(
        lambda x, *b: taeda.clamp(x, **dict(zip(given, b, strict=True))),
        x,
        *given.values(),
        wraps=False,
    )


def conj(x: Tensor, /) -> Tensor:
    """The conjugate.

    >>> taeda.array_api.conj(taeda.tensor([1+2j]))
    tensor([1.-2.j])
    """
    return taeda.conj(x).resolve_conj()


def negative(x: Tensor, /) -> Tensor:
    """The negative.

    >>> taeda.array_api.negative(taeda.tensor([1, -2]))
    tensor([-1,  2])
    """
    return taeda.neg(x)


def positive(x: Tensor, /) -> Tensor:
    """A copy.

    >>> taeda.array_api.positive(taeda.tensor([1, -2]))
    tensor([ 1, -2])
    """
    return x.clone()
