"""Switches of recording: no_grad, enable_grad, set_grad_enabled, inference_mode.
Each is a context and a decorator.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, Self, TypeVar, overload

from taeda._core_api import runtime as _core
from taeda._core_api import warn
from taeda._core_api.calls import call_user

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

F = TypeVar("F", bound=Callable[..., Any])


class _Decorator:
    """A context manager that may also stand above a function, a generator function or a coroutine
    function.
    """

    def clone(self) -> _Decorator:
        """A fresh context with the same settings, for each call of a decorated function."""
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *unused: object) -> None:
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled by its settings; nothing is switched by that."""
        held = vars(self)
        settings = (held["mode"],) if "mode" in held else ()
        return _unswitched, (type(self), *settings), held

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            warn(
                f"Decorating classes is deprecated: only __init__ of {function.__name__} is "
                "wrapped. Decorate its methods.",
                FutureWarning,
            )
            function.__init__ = self(function.__init__)  # type: ignore[method-assign]  # that is what the decorator means here
            return function
        if inspect.isgeneratorfunction(function):
            return _wrap_generator(self, function)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return call_user(None, function, *args, **kwargs)

        return run  # type: ignore[return-value]  # same signature


def _unswitched(cls: type[_Decorator], *settings: Any) -> _Decorator:
    """A context as its settings say, which has switched nothing yet."""
    return cls.__new__(cls, *settings)


def _wrap_generator(context: _Decorator, function: Any) -> Any:
    """The mode holds while the generator's body runs, and not while its consumer does."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        try:
            with context.clone():
                value = generator.send(None)
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    with context.clone():
                        generator.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - handed to the generator, whatever it is
                    with context.clone():
                        value = generator.throw(error)
                else:
                    with context.clone():
                        value = generator.send(sent)
        except StopIteration as stop:
            return stop.value

    return run


class _Grad(_core.Switches, _Decorator):
    """Without parentheses (`@no_grad`) the class is called with the function, and gives the decorated one."""

    on: bool

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, orig_func: F) -> F: ...  # type: ignore[misc]  # no instance, on purpose
    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        made = super().__new__(cls, cls.on)
        return made if orig_func is None else made(orig_func)


class no_grad(_Grad):
    """Nothing is recorded inside: results do not require grad.

    Args:
        orig_func: the function below `@no_grad` without parentheses (None: there is none).

    >>> x = taeda.ones(2, requires_grad=True)
    >>> with taeda.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    on = False


class enable_grad(_Grad):
    """Recording is on inside, also within no_grad.

    Args:
        orig_func: the function below `@enable_grad` without parentheses (None: there is none).

    >>> with taeda.no_grad(), enable_grad():
    ...     print(taeda.is_grad_enabled())
    True
    """

    on = True


class set_grad_enabled(_core.Switches, _Decorator):
    """Recording on or off: at once when called, until the block ends as a context.

    Args:
        mode: whether operations are recorded.

    >>> with set_grad_enabled(False):
    ...     print(taeda.is_grad_enabled())
    False
    """

    def __new__(cls, mode: bool) -> Self:
        return super().__new__(cls, bool(mode))

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._begin()

    def clone(self) -> set_grad_enabled:
        return type(self)(self.mode)

    def __call__(self, function: F) -> F:
        self.__exit__()
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self.mode})"


class set_multithreading_enabled(_Decorator):
    """Whether backward may use threads for several devices: at once when called, until the block
    ends as a context.

    There is one device here, and a walk runs in the thread that asked for it, so both settings give
    the same walk; operations inside it use their own threads (`taeda.set_num_threads`).

    Args:
        mode: whether several threads may be used.

    >>> with taeda.autograd.set_multithreading_enabled(False):
    ...     x = taeda.ones(2, requires_grad=True)
    ...     x.sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)

    def clone(self) -> set_multithreading_enabled:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *unused: object) -> None:
        pass


class inference_mode(_core.Switches, _Decorator):
    """No recording, and tensors made inside never take part in autograd.
    `inference_mode(False)` leaves the mode.

    Args:
        mode: whether the mode is on (True); or the function below `@inference_mode` without
            parentheses.

    >>> with inference_mode():
    ...     print(taeda.ones(1).is_inference())
    True
    """

    mode: bool

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]  # without parentheses: the decorated function
    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        on = mode if isinstance(mode, bool) else True
        made = super().__new__(cls, not on, on)
        made.mode = on
        return made if isinstance(mode, bool) else made(mode)

    def clone(self) -> inference_mode:
        return type(self)(self.mode)
