"""Numbers that depend on sizes, and arithmetic that a tracer sees through; branches; assertions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .._layers import tracers
from .._layers.dispatch import call_override, has_overrides
from .._native import core as _core

if TYPE_CHECKING:
    from taeda import Tensor
else:
    Tensor = _core.Tensor

__all__ = [
    "SymBool", "SymFloat", "SymInt", "_assert", "cond", "sym_float", "sym_fresh_size", "sym_int",
    "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sum",
]  # fmt: skip

_T = TypeVar("_T")


class _Symbolic:
    """What a trace for any size has in place of a number. The traces' own classes derive from these."""

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__base__ is _Symbolic:
            raise TypeError(
                f"{cls.__name__} cannot be made by hand: sizes are symbols inside of a trace for any "
                "size (taeda.fx.experimental.proxy_tensor.make_fx), or of a ShapeEnv"
            )
        return super().__new__(cls)


class SymInt(_Symbolic):
    """An integer that depends on sizes, with the arithmetic of an int. Programs ask for it beside
    int; outside of a trace every size is an int.

    >>> isinstance(taeda.ones(3).shape[0], (int, taeda.SymInt))
    True
    """

    __slots__ = ()

    def as_integer_ratio(self) -> tuple[SymInt, int]:
        """The integer itself, over 1."""
        return self, 1


class SymFloat(_Symbolic):
    """A float that depends on sizes, such as `1 / n`, with the arithmetic of a float.

    >>> isinstance(0.5, (float, taeda.SymFloat)), isinstance(1, taeda.SymFloat)
    (True, False)
    """

    __slots__ = ()

    def __float__(self) -> float:
        """A trace's own class knows the number; there are no others."""
        raise NotImplementedError(f"{type(self).__name__} has no number")

    def as_integer_ratio(self) -> tuple[int, int]:
        """Two integers whose quotient is exactly this float; under a trace this fixes it."""
        return float(self).as_integer_ratio()

    def conjugate(self) -> SymFloat:
        """The float itself: it has no imaginary part."""
        return self

    def hex(self) -> str:
        """The float in base 16, as `float.hex` writes it; under a trace this fixes it."""
        return float(self).hex()

    def is_integer(self) -> bool:
        """Whether it is a whole number; under a trace this fixes it."""
        return float(self).is_integer()


class SymBool(_Symbolic):
    """Whether something holds for sizes. `&`, `|` and `~` make another one; `and`, `or`, `not` and
    `if` ask, and under a trace the answer is a guard.

    >>> isinstance(3 > 2, (bool, taeda.SymBool)), isinstance(1, taeda.SymBool)
    (True, False)
    """

    __slots__ = ()


def sym_fresh_size(expr: Any) -> int:
    """A size that has no ties to the one it came from: the number; under a trace this fixes it.

    Args:
        expr: an int, or a size under a trace. TypeError for what is no integer.

    >>> taeda.sym_fresh_size(taeda.ones(3).shape[0])
    3
    """
    return operator.index(expr)


def sym_int(a: Any) -> int:
    """A number as an int, towards zero.

    Args:
        a: an int, a float, a size under a trace, or a tensor with one element. ValueError for NaN.

    >>> taeda.sym_int(-2.5)
    -2
    """
    if hasattr(a, "__sym_int__"):  # a size under a trace
        made: int = a.__sym_int__()
        return made
    return math.trunc(a) if isinstance(a, float) else int(a)


def sym_float(a: Any) -> float:
    """A number as a float; a size under a trace stays one that depends on it.

    Args:
        a: an int, a float, a size under a trace, or a tensor with one element.

    >>> taeda.sym_float(3)
    3.0
    """
    return a.__sym_float__() if hasattr(a, "__sym_float__") else float(a)


def sym_not(a: Any) -> bool:
    """`not a`.

    Args:
        a: a bool, a question about sizes under a trace, or anything that has a truth.

    >>> taeda.sym_not(True)
    False
    """
    return a.__sym_not__() if hasattr(a, "__sym_not__") else not a  # a question under a trace


def _number(value: Any) -> Any:
    if isinstance(value, (int, float)) or (hasattr(value, "dtype") and hasattr(value, "item")):
        return value
    raise AssertionError(f"wanted an int or a float, got {type(value).__name__}: {value!r}")


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers; a float if one of them is.

    Args:
        a, b: ints, floats, sizes under a trace, or tensors with one element. AssertionError for others.

    >>> taeda.sym_max(3, 2.0)
    3.0
    """
    for one, other in ((a, b), (b, a)):
        if hasattr(one, "__sym_max__"):
            return one.__sym_max__(other)
    chosen = max(_number(a), _number(b))
    return float(chosen) if isinstance(a, float) or isinstance(b, float) else chosen


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is.

    Args:
        a, b: ints, floats, sizes under a trace, or tensors with one element. AssertionError for others.

    >>> taeda.sym_min(3, 4)
    3
    """
    for one, other in ((a, b), (b, a)):
        if hasattr(one, "__sym_min__"):
            return one.__sym_min__(other)
    chosen = min(_number(a), _number(b))
    return float(chosen) if isinstance(a, float) or isinstance(b, float) else chosen


def sym_sum(args: Sequence[Any]) -> Any:
    """The sum of a sequence of numbers, 0 if it is empty.

    Args:
        args: ints, floats, or sizes under a trace.

    >>> taeda.sym_sum([1, 2, 3])
    6
    """
    return sum(args)


def sym_ite(b: Any, t: _T, f: _T) -> _T:
    """`t if b else f`. AssertionError unless `b` is a bool and the two are of one type.

    Args:
        b: a bool, or a question about sizes under a trace.
        t: the result where it holds.
        f: the result where it does not, of the type of t.

    >>> taeda.sym_ite(True, 3, 4)
    3
    """
    if not isinstance(b, (bool, SymBool)):
        raise AssertionError(f"sym_ite: the condition must be a bool, got {type(b).__name__}")
    if type(t) is not type(f):
        raise AssertionError(
            f"sym_ite: both sides must be of one type, got {type(t).__name__} and {type(f).__name__}"
        )
    return t if b else f


def cond(
    pred: bool | Tensor,
    true_fn: Callable[..., _T],
    false_fn: Callable[..., _T],
    operands: Sequence[Any] = (),
) -> _T:
    """`true_fn(*operands)` or `false_fn(*operands)`, by a bool or a tensor with one element;
    gradients flow through the one that ran.

    Inside of `vmap`, where each sample has an element of its own, both run, and each sample gets
    its result from the one that its element chooses. `make_fx` and `compile` keep a choice by a
    tensor in their graph, with both functions. For that both run while the graph is made, and give
    results of one structure, with the same shapes and dtypes.

    Args:
        pred: a bool, or a tensor with one element. RuntimeError for a tensor with more.
        true_fn: the function that runs if it holds, called with the operands. TypeError for what
            cannot be called.
        false_fn: the function that runs if it does not, likewise.
        operands: the arguments of both: a tuple or a list, else RuntimeError (default: ()).

    >>> taeda.cond(taeda.tensor(True), taeda.sin, taeda.cos, (taeda.zeros(1),))
    tensor([0.])
    """
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(
            f"Expected pred to be bool or single-element tensor, but got one of shape {list(pred.shape)}"
        )
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError(
            f"cond: wanted two functions, got {type(true_fn).__name__} and {type(false_fn).__name__}"
        )
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(
            f"Expect operands to be a tuple of tensors, but got {type(operands).__name__}"
        )
    if isinstance(pred, Tensor):
        by_sample = getattr(type(pred), "_choose", None)  # of vmap
        if by_sample is not None:
            return by_sample(pred, true_fn, false_fn, operands)
        for tracer in reversed(tracers.entered):
            branches = getattr(tracer, "branches", None)
            if branches is not None:
                return branches(pred, true_fn, false_fn, operands)
    return (true_fn if bool(pred) else false_fn)(*operands)


def _assert(condition: Any, message: str) -> None:
    """`assert condition, message`, as a function: AssertionError with the message if it does not hold. A
    condition that is no tensor and overrides functions, as of a program that is traced, is asked.
    """
    if type(condition) is not _core.Tensor and has_overrides((condition,)):
        call_override(_assert, None, (condition, message), {}, (condition,))
        return
    if not bool(condition):
        raise AssertionError(message)
