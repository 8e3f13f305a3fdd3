"""The `__torch_function__` protocol: types and modes that see calls of this library's functions.

A type with a classmethod `__torch_function__(cls, func, types, args=(), kwargs=None)` is asked
instead of the function when an object of it is among the arguments; a `TorchFunctionMode` is asked
for every call inside its `with` block.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from taeda import Tensor

from ._layers import Mode, function_modes
from ._layers.dispatch import call_override, has_overrides
from ._layers.overridable import (
    get_default_nowrap_functions,
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
    is_tensor_method_or_property,
    resolve_name,
)

__all__ = [
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

Function = Callable[..., Any]


# ---- for authors of functions ----


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a call with these arguments is for `handle_torch_function`.

    True if a mode is active, or one of the arguments has a `__torch_function__`; exact tensors and
    parameters do not count.

    >>> taeda.overrides.has_torch_function((taeda.ones(1),))
    False
    """
    return has_overrides(relevant_args)


def has_torch_function_unary(argument: Any) -> bool:
    """`has_torch_function` of one argument.

    >>> taeda.overrides.has_torch_function_unary(taeda.ones(1))
    False
    """
    return has_overrides((argument,))


def has_torch_function_variadic(*arguments: Any) -> bool:
    """`has_torch_function` of several arguments.

    >>> taeda.overrides.has_torch_function_variadic(taeda.ones(1), 2)
    False
    """
    return has_overrides(arguments)


def handle_torch_function(
    public_api: Function, relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Ask the modes and the types of `relevant_args` for `public_api(*args, **kwargs)`.

    Raises TypeError if all of them return NotImplemented.

    >>> def double(x):
    ...     if has_torch_function_unary(x):
    ...         return handle_torch_function(double, (x,), x)
    ...     return x + x
    """
    return call_override(public_api, None, args, kwargs, relevant_args)


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Function], Function]:
    """Decorate a function so that it can be overridden.

    `dispatcher` takes the same arguments and returns those that may have a `__torch_function__`.

    >>> @taeda.overrides.wrap_torch_function(lambda x: (x,))
    ... def twice(x):
    ...     return 2 * x
    >>> class Told(taeda.Tensor):
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return func.__name__
    >>> twice(taeda.ones(1)), twice(taeda.ones(1).as_subclass(Told))
    (tensor([2.]), 'twice')
    """

    def decorate(func: Function) -> Function:
        @functools.wraps(func)
        def overridable(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_overrides(relevant):
                return call_override(overridable, None, args, kwargs, relevant)
            return func(*args, **kwargs)

        return overridable

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether `inp` is a tensor, or its type has a `__torch_function__`.

    >>> taeda.overrides.is_tensor_like(taeda.ones(1)), taeda.overrides.is_tensor_like(1.0)
    (True, False)
    """
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


# ---- modes ----


class TorchFunctionMode(Mode):
    """Sees every call of this library inside its `with` block, before the arguments' types do.

    A subclass defines `__torch_function__(self, func, types, args=(), kwargs=None)`. While that
    runs the mode is off, so calls in it go to the next mode outwards.

    >>> import taeda
    >>> class Names(TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     x = taeda.ones(2).exp()
    ones
    exp
    """

    _stack = function_modes

    def __torch_function__(
        self,
        func: Function,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __torch_function__")


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every call pass."""

    def __torch_function__(
        self,
        func: Function,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return func(*args, **(kwargs or {}))


# ---- the stack of modes ----


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """The modes of this thread, the innermost last."""
    return list(function_modes.entered)


def _get_current_function_mode() -> TorchFunctionMode | None:
    """The innermost mode, or None."""
    return function_modes.entered[-1] if function_modes.entered else None


def _push_mode(mode: TorchFunctionMode) -> None:
    function_modes.push(mode)


def _pop_mode() -> TorchFunctionMode:
    """Take the innermost mode off. IndexError if there is none."""
    found: TorchFunctionMode = function_modes.pop()
    return found


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[TorchFunctionMode]:
    """The innermost mode, which is off in the `with` block."""
    with function_modes.innermost() as mode:
        yield mode
