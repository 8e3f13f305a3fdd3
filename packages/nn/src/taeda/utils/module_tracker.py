"""Where in a hierarchy of modules the program is, forwards and backwards.

>>> import taeda
>>> from taeda.utils.module_tracker import ModuleTracker
>>> class Prints(taeda.nn.Module):
...     def forward(self, x):
...         print(sorted(tracker.parents))
...         return x
>>> with ModuleTracker() as tracker:
...     _ = taeda.nn.Sequential(Prints())(taeda.ones(1))
['Global', 'Sequential', 'Sequential.0']
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Self

from taeda._core_api import runtime as _core
from taeda._core_api.trees import tensors_in
from taeda.autograd.graph import register_multi_grad_hook
from taeda.nn import Module
from taeda.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """Context; `parents` holds the names of the modules that run now, by their place in the
    outermost one, and always "Global".

    `is_bw` says whether it is their backward that runs. A module that is called first of all gives
    its class's name to what it holds.

    >>> from taeda import nn
    >>> tracker, seen = taeda.utils.module_tracker.ModuleTracker(), []
    >>> class Inner(nn.Module):
    ...     def forward(self, x):
    ...         seen.append(sorted(tracker.parents))
    ...         return x
    >>> with tracker:
    ...     _ = nn.Sequential(Inner())(taeda.ones(1, 2))
    >>> seen
    [['Global', 'Sequential', 'Sequential.0']]
    """

    parents: set[str]
    is_bw: bool

    def __init__(self) -> None:
        self.parents, self.is_bw = {"Global"}, False
        self._names: weakref.WeakKeyDictionary[Module, str] = weakref.WeakKeyDictionary()

    def __enter__(self) -> Self:
        self._handles: list[Any] = [
            register_module_forward_pre_hook(self._enters),
            register_module_forward_hook(self._leaves, always_call=True),
        ]
        return self

    def __exit__(self, *raised: object) -> None:
        for handle in self._handles:
            handle.remove()

    def _name(self, module: Module) -> str:
        if module not in self._names:
            top = type(module).__name__
            for name, part in module.named_modules():
                self._names.setdefault(part, f"{top}.{name}" if name else top)
        return self._names[module]

    # ---- forwards ----

    def _enters(self, module: Module, args: Any) -> None:
        self.is_bw = False
        name = self._name(module)
        self.parents.add(name)
        self._watch(args, lambda gradients: self._backward(name, enters=False), "all")

    def _leaves(self, module: Module, args: Any, output: Any) -> None:
        name = self._name(module)
        self.parents.discard(name)
        self._watch(output, lambda gradient: self._backward(name, enters=True), "any")

    # ---- backwards: gradients of the outputs come first, those of the inputs last ----

    def _watch(self, values: Any, hook: Callable[[Any], None], mode: str) -> None:
        tensors = [t for t in tensors_in(values) if t.requires_grad]
        if tensors:
            self._handles.append(register_multi_grad_hook(tensors, hook, mode=mode))

    def _backward(self, name: str, enters: bool) -> None:
        if not self.is_bw:
            self.is_bw, self.parents = True, {"Global"}
            _core.queue_callback(self._ends)
        if enters:
            self.parents.add(name)
        else:
            self.parents.discard(name)

    def _ends(self) -> None:
        self.is_bw, self.parents = False, {"Global"}
