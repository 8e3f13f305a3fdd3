"""Checks that programs write for those who trace them: a condition, and what to say if it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._native import core as _core
from .symbolic import SymBool

if TYPE_CHECKING:
    from taeda import Tensor
else:
    Tensor = _core.Tensor

__all__ = [
    "_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all",
    "_check_tensor_all_with", "_check_type", "_check_value", "_check_with",
]  # fmt: skip

Message = Callable[[], object] | None


def _check_with(error: type[Exception], cond: Any, message: Message = None) -> None:
    """`error` unless `cond` is true, with what `message()` gives as its text.

    TypeError if the condition is no bool, or if there is a message that cannot be called.
    """
    if not isinstance(cond, (bool, SymBool)):
        more = ": use taeda._check_tensor_all() for tensors" if isinstance(cond, Tensor) else ""
        raise TypeError(f"cond must be a bool, but got {type(cond).__name__}{more}")
    if isinstance(cond, SymBool) and _asserted(cond, message):
        return
    if cond:
        return
    if message is None:
        raise error("Expected cond to be True, but got False")
    if not callable(message):
        raise TypeError(f"message must be a callable, but got {type(message).__name__}")
    raise error(str(message()))


def _asserted(cond: Any, message: Message) -> bool:
    """Whether a condition on what only data decide is left to the run of a program that is traced."""
    left: bool = cond.asserted(str(message()) if callable(message) else "")
    return left


def _check(cond: Any, message: Message = None) -> None:
    """RuntimeError unless `cond` is true.

    >>> taeda._check(1 < 2, lambda: "never said")
    """
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Message = None) -> None:
    """IndexError unless `cond` is true."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """ValueError unless `cond` is true."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Message = None) -> None:
    """TypeError unless `cond` is true."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message = None) -> None:
    """NotImplementedError unless `cond` is true."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Message = None, *, max: Any = None) -> None:
    """RuntimeError unless `i` may be a size: no negative number, and none above `max`."""
    _check_with(RuntimeError, i >= 0, message)
    if max is not None:
        _check_with(RuntimeError, i <= max, message)


def _check_tensor_all(cond: Tensor, message: Message = None) -> None:
    """RuntimeError unless all elements are true. TypeError for what is no tensor of bools."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _check_tensor_all_with(
    error_type: type[Exception], cond: Tensor, message: Message = None
) -> None:
    """`error_type` unless all elements are true. TypeError for what is no tensor of bools."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype != _core.bool:
        raise TypeError(f"cond tensor must have dtype taeda.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)
