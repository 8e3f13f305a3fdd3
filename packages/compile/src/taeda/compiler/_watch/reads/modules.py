"""Modules: their attributes, parameters and buffers are guarded together."""

from __future__ import annotations

from taeda import Tensor, nn

from .old import Old

__all__ = ["Modules"]


class Modules(Old):
    """Guards modules."""

    def tree(self, module: nn.Module) -> None:
        """Guard a module and all below it, and know their tensors."""
        if id(module) in self._trees:
            return
        for inner in module.modules():
            self._trees.add(id(inner))
            self.module(inner)

    def module(self, module: nn.Module) -> None:
        """Guard one module, and know its tensors."""
        if self.guards.knows(module):
            return
        self._old[id(module)] = module
        self.guards.module(module)
        for value in list(module.__dict__.values()):
            if isinstance(value, Tensor):
                self.mark(value)
