"""Optimizers: their groups and states are guarded, their rates may be inputs of the graph."""

from __future__ import annotations

from typing import Any

from ..._kinds import is_optimizer_type
from .old import Old

__all__ = ["Optimizers", "is_optimizer"]


class Optimizers(Old):
    """Guards optimizers."""

    def optimizer(self, optimizer: Any) -> None:
        """Guard groups and states of an optimizer, and know their tensors."""
        if id(optimizer) in self._trees:
            return
        self._trees.add(id(optimizer))
        self._old[id(optimizer)] = optimizer
        for name in ("step", "zero_grad"):
            self.guards.attribute(type(optimizer), name, getattr(type(optimizer), name))
        attributes = optimizer.__dict__
        self._old[id(attributes)] = attributes
        self.contents(attributes, deep=False)
        for value in list(attributes.values()):
            if isinstance(value, dict | list):
                self.contents(value, deep=False)
        groups, state = attributes.get("param_groups", ()), attributes.get("state", {})
        for group in groups:
            rate = group.get("lr")
            if type(rate) is float:  # guarded by `rates_settled`, or read in each run
                self.rates.append((group, len(self.recorder.graph.steps)))
                self.guards.contents(group, without="lr")
                for value in [*group, *group.values()]:
                    self.mark(value)
            else:
                self.contents(group, deep=False)
            for value in list(group.values()):
                if isinstance(value, dict | list):
                    self.contents(value, deep=False)
        for entry in list(state.values()):
            if isinstance(entry, dict | list):
                self.contents(entry, deep=False)
        for name, value in attributes.items():
            if "hook" in name and value:
                self.stop(f"the optimizer has hooks ({name})")

    def rates_settled(self) -> None:
        """Learning rates that only fused rows got are inputs of the graph; others are guarded."""
        for group, first in self.rates:
            if not self.recorder.add_rate(group, first):
                self.guards.item(group, "lr", group["lr"])


def is_optimizer(value: Any) -> bool:
    return is_optimizer_type(type(value))
