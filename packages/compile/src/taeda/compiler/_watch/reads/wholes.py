"""What looks at all of a value: a loop, a comparison, known code that it is given to."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn

from ..._kinds import CONTAINERS, is_immutable, is_library, is_plain_instance
from .modules import Modules
from .optimizers import Optimizers, is_optimizer

__all__ = ["Wholes"]


class Wholes(Modules, Optimizers):
    """Guards all of a value."""

    def _all_of(self, value: Any, depth: int = 4) -> None:
        """Guard whatever known code may read of this argument."""
        if isinstance(value, Tensor) or is_immutable(value):
            return
        if isinstance(value, nn.Module):
            self.tree(value)
        elif is_optimizer(value):
            self.optimizer(value)
        elif isinstance(value, tuple | list | dict) and depth:
            if isinstance(value, CONTAINERS):
                self.contents(value)
            for entry in list(value.values() if isinstance(value, dict) else value):
                self._all_of(entry, depth - 1)
        elif (
            self.is_old(value)
            and is_plain_instance(value)
            and not is_library(type(value).__module__)
        ):
            self.stop(f"the library reads a {type(value).__qualname__}")

    def each(self, value: Any) -> Any:
        """The value, which is walked through."""
        if not self.active or isinstance(value, Tensor) or is_immutable(value):
            return value
        if isinstance(value, (*CONTAINERS, tuple)):
            self.contents(value)
        elif isinstance(value, nn.Module):
            self.tree(value)
        elif self.is_old(value) and not isinstance(value, frozenset):
            self.stop(f"it walks through a {type(value).__name__}")
        return value

    def whole(self, value: Any) -> Any:
        """The value, which is compared, tested or formatted."""
        if not self.active or isinstance(value, Tensor) or is_immutable(value):
            return value
        if isinstance(value, CONTAINERS) and self.is_old(value):
            self._all_of(value)
        return value

    def context(self, value: Any) -> Any:
        """The value, which is entered by `with`; code of the user in it is seen by the profile hook."""
        return value
