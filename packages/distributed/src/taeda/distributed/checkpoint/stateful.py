"""Objects that give their state, and take it."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """What `save` and `load` ask for its state: modules, optimizers, objects of yours.

    >>> from taeda import nn
    >>> isinstance(nn.Linear(2, 3), Stateful), isinstance({"weight": 1}, Stateful)
    (True, False)
    """

    def state_dict(self) -> dict[str, Any]:
        """The state, as tensors and plain data. `load` calls it too, and fills what it gives."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state that `load` has filled."""
        ...
