"""Child modules as units: what a program that has no whole graph leaves to them.

a compiled function has no graph ─▶ the modules that it called itself become units
a unit has no graph either       ─▶ it is a plain module again, and the modules that it called become units
a unit is slower than its module ─▶ it is a plain module again

A unit is a module whose calls go through a compiled function of their own, but only inside of calls
of the function that it belongs to.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from taeda import nn
from taeda.nn.modules._hooks import call_as_written, has_hooks
from taeda.nn.modules._members import CALL_HOOKS, note_change

from .._watch.observer import here
from .as_written import AsWritten

__all__ = ["Child", "Units", "plain", "run_inside"]

LIMIT = 128  # units of one function


class _Inside(threading.local):
    depth = 0


_here = _Inside()


def run_inside(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`function(*args, **kwargs)`, with units in use in this thread."""
    _here.depth += 1
    try:
        return function(*args, **kwargs)
    finally:
        _here.depth -= 1


class Child(AsWritten):
    """The module of a unit as it is written, at the price of a module that is none."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        observer = here.get()
        if observer is not None and observer.active:
            return observer.call_module(self.module, args, kwargs, call_as_written)
        return plain(self.module, args, kwargs)


def plain(module: nn.Module, args: Any, kwargs: Any) -> Any:
    """The call of a module whose unit does nothing."""
    if nn.Module._hooked or not CALL_HOOKS.isdisjoint(module.__dict__):
        return call_as_written(module, *args, **kwargs)
    return module.forward(*args, **kwargs)


class Units:
    """The units of one compiled function, by module; `make` gives the compiled function of a module."""

    def __init__(self, root: Any, make: Callable[[Child, Units], Any]) -> None:
        self._root = root.module if isinstance(root, AsWritten) else root
        self._make = make
        self.states: dict[nn.Module, Any] = {}
        self.alive: set[nn.Module] = set()
        weakref.finalize(self, _remove_all, self.alive).atexit = False

    def add(self, modules: list[nn.Module]) -> None:
        """Make units of these modules, as far as nothing else is known of them."""
        for module in modules:
            free = module._compiled_call_impl is None and not has_hooks(module)
            if free and module not in self.states and len(self.states) < LIMIT:
                self._install(module, self._make(Child(module), self))

    def _install(self, module: nn.Module, state: Any) -> None:
        units = weakref.ref(self)

        def call(*args: Any, **kwargs: Any) -> Any:
            if not _here.depth:
                return plain(module, args, kwargs)
            if state.off:
                own = units()
                if own is not None:
                    own.remove(module)
                return plain(module, args, kwargs)
            return state(args, kwargs) if state.trial is None else state.trial(args, kwargs)

        call.__taeda_compiled__ = state  # type: ignore[attr-defined]  # what `explain` looks at
        module.__dict__["_compiled_call_impl"] = call
        module.__dict__["_hooked"] = True
        self.states[module] = state
        self.alive.add(module)
        note_change()

    def remove(self, module: nn.Module) -> None:
        """The module is as it was; what is known of it stays."""
        self.alive.discard(module)
        _remove(module)

    def clear(self) -> None:
        """No module is a unit."""
        _remove_all(self.alive)
        self.states = {}

    def name(self, module: nn.Module) -> str:
        """The path of a unit, from the compiled module on or from its class."""
        if isinstance(self._root, nn.Module):
            for path, inner in self._root.named_modules():
                if inner is module:
                    return path
        for other in self.states:
            for path, inner in other.named_modules():
                if inner is module and path:
                    return f"{type(other).__name__}.{path}"
        return type(module).__name__


def _remove_all(alive: set[nn.Module]) -> None:
    while alive:
        _remove(alive.pop())


def _remove(module: nn.Module) -> None:
    if module.__dict__.pop("_compiled_call_impl", None) is None:
        return
    if CALL_HOOKS.isdisjoint(module.__dict__):
        module.__dict__.pop("_hooked", None)
    note_change()
