"""A call that is recorded: modules look for the observer, cycles wait, results are differentiated
while the recorder listens.
"""

from __future__ import annotations

import functools
import gc
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

from taeda import Tensor, nn
from taeda._core_api.forks import taken_for_forks

from .._arguments import tensors_in
from .._replay.joint import MOST_RESULTS, differentiated
from .._signals import let_through
from .._watch.observer import Observer, here

__all__ = ["observed"]

_patch_lock = taken_for_forks(threading.RLock())
_running = 0
_plain_call = nn.Module.__call__


@functools.wraps(_plain_call)
def _module_call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
    observer = here.get()
    if observer is None:
        return _plain_call(self, *args, **kwargs)
    return observer.call_module(self, args, kwargs, _plain_call)


class _patched:
    """While a run is recorded, in whatever thread, calls of modules look for an observer.

    The collection of cycles waits meanwhile: it runs callbacks and finalizers of anybody at any
    line, and the observer would take them for code of the program.
    """

    _collects = False  # whether cycles were collected before the first of these runs

    def __enter__(self) -> None:
        global _running
        with _patch_lock:
            _running += 1
            if _running == 1:
                nn.Module.__call__ = _module_call  # type: ignore[method-assign]  # put back below
                _patched._collects = gc.isenabled()
                gc.disable()

    def __exit__(self, *raised: object) -> None:
        global _running
        with _patch_lock:
            _running -= 1
            if _running == 0:
                nn.Module.__call__ = _plain_call  # type: ignore[method-assign]  # as it was
                if _patched._collects:
                    gc.enable()


def observed(observer: Observer, function: Any, args: Any, kwargs: Any) -> Any:
    """The result of the call, which `observer` watches."""
    before = here.get()
    with _patched(), observer.recorder:
        here.set(observer)
        sys.setprofile(observer.profile)
        try:
            result = _enter(observer, function, args, kwargs)
            if observer.active and observer.recorder.note_gradients():
                grown = _grown(observer, result)
                if len(grown) > MOST_RESULTS:
                    observer.stop(
                        f"it returns {len(grown)} tensors that want gradients", quiet=True
                    )
                elif grown:
                    _differentiate(observer, grown)
            return result
        finally:
            here.local.observer = before  # a store: a handler of a signal may end a call of `set`
            sys.setprofile(None)


def _differentiate(observer: Observer, grown: list[Tensor]) -> None:
    try:
        observer.joint = differentiated(observer.recorder, grown)
    except Exception as error:  # noqa: BLE001 - the run is over and right; whoever walks its graph meets the error again
        let_through(error)
        observer.stop(f"its results cannot be differentiated: {error}", quiet=True)


def _grown(observer: Observer, result: Any) -> list[Tensor]:
    """Results that take part in a graph which nobody walked as yet."""
    found: dict[int, Tensor] = {}
    for tensor in tensors_in(result):
        new = tensor.grad_fn is not None and id(tensor.grad_fn) not in observer.consumed
        if new and not any(tensor is t for t, _, _ in observer.recorder.before):
            found[id(tensor)] = tensor
    return list(found.values())


def _enter(observer: Observer, function: Any, args: Any, kwargs: Any) -> Any:
    for owner in _owners(function):
        observer.mark(owner)
    return observer.call(function, *args, **kwargs)


def _owners(function: Any) -> Iterator[Any]:
    """Objects that a call reads from besides its arguments: of a method its own, of a partial what
    it was given.
    """
    if isinstance(function, types.MethodType):
        yield function.__self__
        yield from _owners(function.__func__)
    elif isinstance(function, functools.partial):
        yield from (*function.args, *function.keywords.values())
        yield from _owners(function.func)
    elif not isinstance(function, types.FunctionType):
        yield function
