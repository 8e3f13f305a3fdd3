"""Parameters in whose place a wrapper has put others.

Whoever still holds such a one, an optimizer made before or a list for clipping, would change nothing
of the model: its gradient never comes. So a replaced parameter says that when its gradient is asked
for, and refuses to be written; its values may be read.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn

__all__ = ["is_replaced", "replace"]


class ReplacedParameter(nn.Parameter):
    """A parameter that no module has any more. `replaced_by` says which call did that."""

    replaced_by: str

    def _refuse(self) -> Any:
        raise RuntimeError(
            f"this parameter of shape {tuple(self.shape)} is not the model's any more: {self.replaced_by} "
            "has put a sharded one in its place. Take model.parameters() again, such as by making the "
            "optimizer after the call"
        )

    @property
    def grad(self) -> Any:
        """No gradient comes. RuntimeError."""
        return self._refuse()

    @grad.setter
    def grad(self, value: Any) -> None:
        self._refuse()

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        writes = (name.endswith("_") and not name.endswith("__")) or name in (
            "__setitem__",
            "backward",
        )
        if writes and args and isinstance(args[0], cls):
            args[0]._refuse()
        return super().__torch_function__(func, types, args, kwargs or {})


def replace(param: Tensor, call: str) -> None:
    """From now on `param` tells its holders that `call` has replaced it."""
    if isinstance(param, nn.Parameter):
        param.__class__ = ReplacedParameter
        param.replaced_by = call  # type: ignore[attr-defined]  # its class has it now


def is_replaced(param: Tensor) -> bool:
    """Was it replaced?"""
    return isinstance(param, ReplacedParameter)
