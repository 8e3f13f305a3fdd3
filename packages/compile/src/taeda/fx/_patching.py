"""What is replaced while a program is traced, so that calls arrive at the tracer whatever way they
were imported.

Methods of Module, functions that are written in Python, functions that make tensors, and functions
that somebody wrapped. Replaced once for all traces that run, in whatever thread, and put back with
the last; a thread that traces nothing goes straight through.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import taeda
from taeda import nn
from taeda._core_api.forks import taken_for_forks

from .proxy import _tracer_among

__all__ = ["current", "tracing", "wrapped"]

_lock = taken_for_forks(threading.RLock())
_running = 0
_undo: list[Callable[[], None]] = []
_here = threading.local()
#: (globals of a module, name) -> whose calls are recorded instead of made
wrapped: dict[tuple[int, str], dict[str, Any]] = {}

_MAKERS = (
    "arange empty eye full linspace logspace ones rand randint randn randperm range tensor as_tensor zeros "
    "empty_strided scalar_tensor tril_indices triu_indices complex"
).split()
_MODULES = ("", "nn.functional", "linalg", "fft", "special", "functional")


def current() -> Any:
    """The tracer at work in this thread, None if there is none."""
    entered = getattr(_here, "tracers", None)
    return entered[-1] if entered else None


class tracing:
    """A with block in which `tracer` sees what this thread calls.
    `extra` are globals of modules where functions may hide.
    """

    def __init__(self, tracer: Any, extra: Iterable[dict[str, Any]] = ()) -> None:
        self.tracer, self.extra = tracer, list(extra)

    def __enter__(self) -> None:
        global _running
        if not hasattr(_here, "tracers"):
            _here.tracers = []
        _here.tracers.append(self.tracer)
        with _lock:
            _running += 1
            if _running == 1:
                _install_common()
            for space in self.extra:
                _install_in(space)

    def __exit__(self, *raised: object) -> None:
        global _running
        _here.tracers.pop()
        with _lock:
            _running -= 1
            if _running == 0:
                while _undo:
                    _undo.pop()()


def _set(space: dict[str, Any], name: str, value: Any) -> None:
    before = space[name]

    def undo() -> None:
        space[name] = before

    _undo.append(undo)
    space[name] = value


def recording(function: Any) -> Any:
    """The function, whose call is a node where a proxy is among its arguments."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        tracer = _tracer_among((args, kwargs))
        if tracer is None:
            return function(*args, **kwargs)
        return tracer.create_proxy("call_function", function, args, kwargs)

    call._fx_original = function  # type: ignore[attr-defined]  # how a replaced one is known
    return call


def _functions() -> Iterator[tuple[dict[str, Any], str, Any]]:
    """(namespace, name, function) of what does not ask its arguments' types for itself."""
    for place in _MODULES:
        module: Any = taeda
        for part in filter(None, place.split(".")):
            module = getattr(module, part)
        for name, value in list(vars(module).items()):
            own = inspect.isfunction(value) and (value.__module__ or "").startswith("taeda.")
            if own and not name.startswith("_") and _is_public(module, name):
                yield vars(module), name, value
    for name in _MAKERS:
        yield vars(taeda), name, getattr(taeda, name)
    yield vars(taeda), "_assert", taeda._assert


def _is_public(module: ModuleType, name: str) -> bool:
    if module is taeda:
        return name in _overridable_names()
    return name in getattr(module, "__all__", vars(module))


@functools.cache
def _overridable_names() -> frozenset[str]:
    from taeda.overrides import get_overridable_functions

    return frozenset(f.__name__ for f in get_overridable_functions()[taeda])


def _install_common() -> None:
    _replaced.clear()
    for space, name, value in list(_functions()):
        if not hasattr(space[name], "_fx_original"):
            made = _replaced.setdefault(id(value), recording(value))
            _set(space, name, made)
    _set_module_methods()


_replaced: dict[int, Any] = {}


def _install_in(space: dict[str, Any]) -> None:
    """The same in the globals of a user's module: for names that were imported one by one, and for
    wrapped ones.
    """
    for name, value in list(space.items()):
        made = _replaced.get(id(value))
        if made is not None:
            _set(space, name, made)
    for (owner, name), target in list(wrapped.items()):
        if owner == id(space) and target is space:
            _wrap_name(space, name)


def _wrap_name(space: dict[str, Any], name: str) -> None:
    import builtins

    if name in space:
        if not hasattr(space[name], "_fx_original"):
            _set(space, name, recording(space[name]))
        return
    original = getattr(builtins, name, None)
    if original is None:
        raise NameError(f"fx.wrap({name!r}): no such function in its module")
    _undo.append(functools.partial(space.pop, name, None))
    space[name] = recording(original)


def _set_module_methods() -> None:
    call, get = nn.Module.__call__, nn.Module.__getattr__

    @functools.wraps(call)
    def traced_call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        tracer = current()
        if tracer is None:
            return call(self, *args, **kwargs)

        def forward(*a: Any, **k: Any) -> Any:
            return call(self, *a, **k)

        return tracer._called(self, forward, args, kwargs)

    @functools.wraps(get)
    def traced_get(self: nn.Module, name: str) -> Any:
        value = get(self, name)
        tracer = current()
        return value if tracer is None else tracer._got(name, value)

    nn.Module.__call__ = traced_call  # type: ignore[method-assign]  # until the last trace ends
    nn.Module.__getattr__ = traced_get  # type: ignore[method-assign, assignment]

    def undo() -> None:
        nn.Module.__call__, nn.Module.__getattr__ = call, get  # type: ignore[method-assign]

    _undo.append(undo)
