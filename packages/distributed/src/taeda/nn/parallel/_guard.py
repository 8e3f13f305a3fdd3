"""No optimizer steps on gradients that a wrapped module has not averaged.

Nothing is called before steps while every gradient is averaged, or kept back by `no_sync`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Protocol

from taeda import Tensor
from taeda.optim.optimizer import Optimizer, register_optimizer_step_pre_hook

__all__ = ["forget", "watch"]


class Owner(Protocol):
    """Who averages gradients."""

    def check_averaged(self, params: set[int]) -> None:
        """RuntimeError if one of the parameters with these ids has a gradient of this rank alone."""


_watched: weakref.WeakSet[Any] = weakref.WeakSet()
_handle: Any = None


def watch(owner: Owner) -> None:
    """Ask `owner` before each step of an optimizer."""
    global _handle
    _watched.add(owner)
    if _handle is None:
        _handle = register_optimizer_step_pre_hook(_before_step)


def forget(owner: Owner) -> None:
    """Ask `owner` no more."""
    global _handle
    _watched.discard(owner)
    if _handle is not None and not _watched:
        _handle.remove()
        _handle = None


def _before_step(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    params = {id(param) for param in _params_of(optimizer)}
    for owner in list(_watched):
        owner.check_averaged(params)


def _params_of(optimizer: Any) -> Iterator[Tensor]:
    for group in getattr(optimizer, "param_groups", ()):
        yield from group["params"]
