"""What is left of TorchScript: `trace`, `script` as a name of `compile`, decorators that let programs be.

>>> import taeda
>>> future = fork(taeda.add, taeda.ones(1), 2)
>>> wait(future)
tensor([3.])
"""

from __future__ import annotations

import builtins
import contextlib
import inspect
import textwrap
import types
import typing
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import taeda
import taeda.jit.annotations  # under this name in place of what `__future__` gave
from taeda import nn
from taeda._core_api import warn

from ._apart import apart
from ._check import TracerWarning, TracingCheckError
from ._trace import TracedModule, trace, trace_module
from ._types import Attribute, ScriptFunction, ScriptModule, is_scripted, mark, script_method
from ._watching import is_tracing

__all__ = [
    "Attribute", "Final", "ScriptFunction", "ScriptModule", "TracedModule", "TracerWarning",
    "TracingCheckError", "annotate", "annotations", "export", "fork", "ignore", "is_scripting",
    "is_tracing", "isinstance", "script", "script_if_tracing", "script_method", "trace",
    "trace_module", "unused", "wait",
]  # fmt: skip

Final = typing.Final  # an annotation that TorchScript would read
_warned = False
_pool: ThreadPoolExecutor | None = None


def script(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """`obj`, compiled as by `taeda.compile`; a UserWarning, once, says that there is no TorchScript.

    Of a function the compiled function, whose `code` is its source as text, if there is any; of a
    module another one, with the same parameters and buffers, whose calls are compiled: what is set
    in one of the two later, the other does not see. A class, and a function that is built in, are
    given back, and so is what was scripted or traced before. What is given is never changed.
    Results are of the types `ScriptModule` and `ScriptFunction`. TypeError for what is none of
    them, and for the options of TorchScript.

    Args:
        obj: a function, class or module

    >>> import warnings
    >>> def double(x):
    ...     return 2 * x
    >>> with warnings.catch_warnings(action="ignore"):  # there is no TorchScript
    ...     scripted = script(double)
    >>> scripted(taeda.ones(2)).tolist()
    [2.0, 2.0]
    """
    if args or kwargs:
        raise TypeError("jit.script: nothing is compiled from source here, so there are no options")
    if not callable(obj) and not builtins.isinstance(obj, nn.Module):
        raise TypeError(f"jit.script: wanted a function, class or module, got {type(obj).__name__}")
    _warn_once()
    if is_scripted(obj) or builtins.isinstance(obj, TracedModule):
        return obj
    if builtins.isinstance(obj, nn.Module):
        made = apart(obj)
        made.compile()
        return mark(made)
    if not builtins.isinstance(obj, types.FunctionType):
        return obj
    function: Any = taeda.compile(obj)
    with contextlib.suppress(OSError):  # there is no source: typed in, or made by exec
        function.code = textwrap.dedent(inspect.getsource(obj))
    return mark(function)


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warn(
            "taeda.jit.script gives what taeda.compile gives: there is no TorchScript, programs stay "
            "Python. The result has no .graph or .save: keep the state_dict() and the class"
        )


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn` itself: a trace goes through it as it does through any function.

    Args:
        fn: a function

    >>> @script_if_tracing
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    return fn


_script_if_tracing = script_if_tracing  # libraries read it by this name


def _overload_method(func: Any) -> Any:
    """Decorator of libraries: one of several annotated forms of a method. The last one is the method."""
    return func


def _overload(func: Any) -> Any:
    """The same for functions."""
    return func


def _unwrap_optional(x: Any) -> Any:
    """The value, which is not None. AssertionError for None."""
    assert x is not None, "Unwrapping null optional"
    return x


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Decorator: leave a function to Python, as all are. `@ignore`, or `@ignore(drop=True)`.

    Args:
        drop: the function, or a switch that changes nothing: no call is left out (default: False)

    >>> @ignore(drop=True)
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    if callable(drop):
        return drop
    return lambda fn: fn


def unused(fn: Any) -> Any:
    """Decorator: a function that a compiler need not see.

    Args:
        fn: a function

    >>> @unused
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    return fn


def export(fn: Any) -> Any:
    """Decorator: a method that a compiler must see besides forward.

    Args:
        fn: a method

    >>> class Double(taeda.nn.Module):
    ...     @export
    ...     def twice(self, x):
    ...         return 2 * x
    >>> Double().twice(3)
    6
    """
    return fn


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value; the type is for who reads.

    Args:
        the_type: a type, which nobody checks
        the_value: the value

    >>> annotate(list[int], [1, 2])
    [1, 2]
    """
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of a type, a generic one included: List[int] and Optional[int] look at what is inside.

    Args:
        obj: any value
        target_type: a type, a generic one such as `list[int]`, or a tuple of such

    >>> isinstance([1, 2], list[int]), isinstance([1, "a"], list[int]), isinstance(None, int | None)
    (True, False, True)
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    origin, inner = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None:
        wanted = type(None) if target_type is None else target_type
        return builtins.isinstance(obj, wanted)
    if origin in (typing.Union, types.UnionType):
        return any(isinstance(obj, one) for one in inner)
    if not builtins.isinstance(obj, origin):
        return False
    return _inside(obj, origin, inner)


def _inside(obj: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    if origin is dict:
        return all(isinstance(k, inner[0]) and isinstance(v, inner[1]) for k, v in obj.items())
    if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis):
        return len(obj) == len(inner) and all(map(isinstance, obj, inner))
    return all(isinstance(entry, inner[0]) for entry in obj)


def is_scripting() -> bool:
    """Whether TorchScript runs this: never.

    >>> taeda.jit.is_scripting()
    False
    """
    return False


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Start a function in another thread; `wait` gives its result. Grad mode is that thread's own: on.

    Args:
        func: a function, which gets the other arguments

    >>> task = taeda.jit.fork(taeda.add, taeda.ones(2), 1)
    >>> taeda.jit.wait(task)
    tensor([2., 2.])
    """
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(thread_name_prefix="taeda-fork")
    return _pool.submit(func, *args, **kwargs)


def wait(future: Future[Any]) -> Any:
    """The result of `fork`; the exception, if it raised one.

    Args:
        future: what `fork` gave

    >>> taeda.jit.wait(taeda.jit.fork(taeda.mul, taeda.ones(2), 3))
    tensor([3., 3.])
    """
    return future.result()
