"""Context managers that decorate: functions, and generator functions whose body they hold in.

For libraries that name these private classes of torch; taeda's own modes have another base.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from taeda._layers.user_code import call_user

__all__ = ["context_decorator"]

_F = TypeVar("_F", bound=Callable[..., Any])
_Make = Callable[[], AbstractContextManager[Any]]


def context_decorator(ctx: Any, func: Any) -> Any:
    """`func`, with a context around each call, or around each step of a generator.

    `ctx` makes a context when called, or is one. A class is refused with a ValueError, for it is
    not clear which of its calls are meant.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"context_decorator: {ctx!r} is a context and makes contexts, so it is not clear which "
            "is meant: give a function that returns a context"
        )
    make: _Make = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise ValueError(
            f"context_decorator: decorate the methods of {func.__name__}, not the class"
        )
    if inspect.isgeneratorfunction(func):
        return _stepwise(make, func)

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        with make():
            return call_user(None, func, *args, **kwargs)

    return run


def _stepwise(make: _Make, function: Any) -> Any:
    """The context holds while the generator's body runs, and not while its consumer does."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        resume, given = generator.send, None
        while True:
            try:
                with make():
                    value = resume(given)
            except StopIteration as end:
                return end.value
            try:
                resume, given = generator.send, (yield value)
            except GeneratorExit:
                with make():
                    generator.close()
                raise
            except BaseException as error:  # noqa: BLE001 - handed to the generator, whatever it is
                resume, given = generator.throw, error

    return run


class _DecoratorContextManager:
    """A base of contexts that decorate: each call of the function gets a `clone()`."""

    def __call__(self, orig_func: _F) -> _F:
        decorated: _F = context_decorator(self.clone, orig_func)
        return decorated

    def __enter__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks __enter__")

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks __exit__")

    def clone(self) -> Any:
        """A context with the same settings; a subclass with settings has its own."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One without settings, so that the class itself may stand above a function."""

    def __new__(cls, orig_func: Any = None) -> Any:
        made = super().__new__(cls)
        return made if orig_func is None else made(orig_func)
