"""A call that is recorded: modules look for the observer, cycles wait, results are differentiated
while the recorder listens.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from typing import Any

from taeda import Tensor, nn
from taeda._core_api import programs as _core
from taeda._core_api.calls import cast_weight, region, see_user_code, watch
from taeda._core_api.runtime import Switches

from .._arguments import tensors_in
from .._replay.joint import MOST_RESULTS, differentiated
from .._signals import let_through
from .._watch import collector
from .._watch.observer import Observer, here
from .environment import left

__all__ = ["observed"]

_plain_call = nn.Module.__call__
_live: dict[int, Observer] = {}  # the runs that are recorded, in whatever thread


@functools.wraps(_plain_call)
def _module_call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
    observer = here.get()
    if observer is None:
        return _plain_call(self, *args, **kwargs)
    return observer.call_module(self, args, kwargs, _plain_call)


def _user_call(owner: Any, function: Any, args: Any, kwargs: Any) -> Any:
    observer = here.get()
    if observer is None:
        return function(*args, **kwargs)
    return observer.call_of_library(owner, function, args, kwargs)


def observed(observer: Observer, function: Any, args: Any, kwargs: Any) -> Any:
    """The result of the call, which `observer` watches."""
    with Switches(show=_core.TRACE):  # in a kernel, too, which hides what it calls
        return _observed(observer, function, args, kwargs)


def _observed(observer: Observer, function: Any, args: Any, kwargs: Any) -> Any:
    """The same, where operations are told.

    A handler of a signal may raise at every call, those of `__exit__` included. So all is put back
    twice at the end.
    """
    before, tracers = here.get(), _core.tracers
    casts = _Casts(observer)
    depth, key = len(tracers.entered), id(observer)
    try:
        _patch(observer, key)
        here.set(observer)
        tracers.push(observer.recorder)
        observer.recorder.active = observer.active
        switched = left()
        sys.setprofile(observer.profile)
        casts.begin()
        result = _enter(observer, function, args, kwargs)
        if sys.getprofile() != observer.profile:
            observer.stop("somebody ended the watch over its code", quiet=True)
        sys.setprofile(None)  # settings are asked in Python
        if left() != switched:
            why = "it leaves a mode or a setting of the library other than it was"
            observer.stop(why, quiet=True)
        sys.setprofile(observer.profile)
        if observer.active and observer.recorder.note_gradients():
            casts.walks = True
            _differentiate_result(observer, result)
        sys.setprofile(None)
        observer.end()
        return result
    finally:
        try:
            _put_back(observer, key, before, depth, casts)
        finally:  # a handler may have raised anywhere in the first one
            _put_back(observer, key, before, depth, casts)


def _put_back(observer: Observer, key: int, before: Any, depth: int, casts: _Casts) -> None:
    """All is as it was before the run; the second time nothing changes."""
    sys.setprofile(None)
    here.local.observer = before
    observer.recorder.active = False
    _live.pop(key, None)
    if not _live:
        nn.Module.__call__ = _plain_call  # type: ignore[method-assign]  # as it was
        see_user_code(None)
    _core.tracers.entered[depth:] = ()
    _core.tracers.restore(depth)
    casts.end()
    collector.release(key)


class _Casts:
    """Is told of casts while a run is recorded in a region of autocast. The region keeps the weights
    that it cast: those are inputs of the graph.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._before: Any = None
        self._grad = _core.is_grad_enabled()
        self.walks = False  # results are differentiated

    def begin(self) -> None:
        """Listen, if a region is around the call."""
        around = region()
        if around is not None and around[-1]:
            self._before = watch(self)

    def end(self) -> None:
        """Whoever listened before does again."""
        watch(self._before)

    def weight(self, tensor: Tensor, dtype: Any) -> Tensor:
        """The cast of a weight."""
        self.casts(tensor)
        if not self._grad:
            self._observer.stop("a weight is cast with gradients on, in a call with gradients off")
        return self._observer.recorder.add_cast(tensor, dtype, cast_weight)

    def casts(self, tensor: Tensor) -> None:
        """A tensor is cast. Backward may run in the region or outside of it."""
        if self.walks:
            self._observer.stop("its backward would be cast in a region of autocast", quiet=True)


def _patch(observer: Observer, key: int) -> None:
    """While a run is recorded, in whatever thread, calls of modules look for an observer.

    What the run makes is in the youngest generation, beside what is there now: little, but for runs
    of other threads.
    """
    _live[key] = observer
    collector.hold(key)
    nn.Module.__call__ = _module_call  # type: ignore[method-assign]  # put back at the end
    see_user_code(_user_call)
    observer.begin()


def _differentiate_result(observer: Observer, result: Any) -> None:
    grown = _grown(observer, result)
    if len(grown) > MOST_RESULTS:
        observer.stop(f"it returns {len(grown)} tensors that want gradients", quiet=True)
    elif grown:
        _differentiate(observer, grown)


def _differentiate(observer: Observer, grown: list[Tensor]) -> None:
    try:
        joints = differentiated(observer.recorder, grown, chained=observer.chained)
    except Exception as error:  # noqa: BLE001 - the run is over and right; whoever walks its graph meets the error again
        let_through(error)
        observer.stop(f"its results cannot be differentiated: {error}", quiet=True)
        return
    observer.grown, observer.joints = grown, joints
    if joints is None:
        why = (
            "a result that wants gradients is computed from another one and from what is behind it"
        )
        observer.stop(why, quiet=True)


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
    observer.entered = _enter.__code__
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
