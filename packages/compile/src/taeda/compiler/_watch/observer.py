"""Sees what a program reads, stores and calls while it is recorded, and makes guards of it.

The instrumented copies of the program's functions (`_rewrite`) call the methods of `Observer`. Each
does what Python would have done, with the same result; what is observed never changes what is
computed. The first thing that cannot be guarded or replayed is kept in `reason`, and from there on
nothing is recorded.

    a value that was there before   is guarded by who read it
    a store to something old        ends the recording, unless nothing changes by it, or it is a gradient
    a function of the user          runs as its copy
    known code                      runs as it is (`_kinds`); what it may read of its arguments is
                                    guarded as a whole
    any other code                  ends the recording; a profile hook sees the code that slipped in
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from taeda import nn
from taeda.nn.modules._hooks import call_as_written, has_hooks

from .._kinds import is_library
from .reads.scalars import Scalars

__all__ = ["Observer", "here"]


class Observer(Scalars):
    """What the instrumented copies of one recorded run call, and what its modules call."""

    @contextmanager
    def as_it_is(self) -> Iterator[None]:
        """As the base class; modules that are called here are not those of the program."""
        here.set(None)
        try:
            with super().as_it_is():
                yield
        finally:
            here.set(self)

    def call_module(
        self, module: nn.Module, args: Any, kwargs: Any, plain: Callable[..., Any]
    ) -> Any:
        """Module.__call__ of a recorded run."""
        self.called.append((self._depth, module))
        self._depth += 1
        try:
            return self._call_module(module, args, kwargs, plain)
        finally:
            self._depth -= 1

    def _call_module(
        self, module: nn.Module, args: Any, kwargs: Any, plain: Callable[..., Any]
    ) -> Any:
        if not self.active:
            return plain(module, *args, **kwargs)
        self.module(module)
        forward = module.forward
        function = getattr(forward, "__func__", forward)
        if module._hooked:
            plain = self._around_hooks(module, plain)
        if self.active and "parametrizations" in module._modules:
            return self._copied(function)(module, *args, **kwargs)
        if not self.active or is_library(getattr(function, "__module__", None) or ""):
            self.tree(module) if self.active else None
            for value in (*args, *kwargs.values()):
                self._all_of(value)
            return plain(module, *args, **kwargs)
        try:
            return self.call(forward, *args, **kwargs)
        except Exception as error:
            from taeda.nn.modules._place import name_module

            name_module(error, module)
            raise

    def _copied(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        """How the forward of a parametrized module runs: its tensors are computed when it reads
        them, by modules of the user perhaps.
        """
        return self.copy(forward) if isinstance(forward, types.FunctionType) else forward

    def _around_hooks(self, module: nn.Module, plain: Callable[..., Any]) -> Callable[..., Any]:
        """How to call a module that calls look twice at: it has hooks, or `compile` was called of it."""
        if has_hooks(module):
            self.stop(f"{type(module).__name__} has hooks")
        return plain if module._compiled_call_impl is None else call_as_written


class _Here:
    """The observer of this thread, `local.observer`."""

    def __init__(self) -> None:
        self.local = threading.local()

    def get(self) -> Observer | None:
        return getattr(self.local, "observer", None)

    def set(self, observer: Observer | None) -> None:
        self.local.observer = observer


here = _Here()
