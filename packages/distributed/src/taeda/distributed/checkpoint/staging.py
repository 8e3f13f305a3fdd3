"""How `async_save` copies a state before training goes on."""

from __future__ import annotations

import copy
from typing import Any, Protocol, runtime_checkable

import taeda
from taeda import Tensor

__all__ = ["AsyncStager", "BlockingAsyncStager"]


@runtime_checkable
class AsyncStager(Protocol):
    """Makes a copy of a state that training does not change.

    `async_save` calls `stage`, starts to write what it returns, and calls `synchronize_staging`
    before it returns if `should_synchronize_after_execute` is True.

    >>> class Kept:  # a copy that lies on the device
    ...     should_synchronize_after_execute = False
    ...     def stage(self, state_dict):
    ...         return {name: value.clone() for name, value in state_dict.items()}
    ...     def synchronize_staging(self):
    ...         pass
    >>> Kept().stage({"weight": taeda.ones(2)})
    {'weight': tensor([1., 1.])}
    """

    _synchronize_after_execute: bool = True

    @property
    def should_synchronize_after_execute(self) -> bool:
        """Is the copy to be complete when `async_save` returns?"""
        return self._synchronize_after_execute

    def stage(self, state_dict: dict[str, Any]) -> dict[str, Any]:
        """A copy that nobody changes."""
        raise NotImplementedError(f"{type(self).__name__} must implement stage")

    def synchronize_staging(self) -> None:
        """Return when the copy is complete."""


class BlockingAsyncStager(AsyncStager):
    """Copies into the memory of the processor, and returns when that is done.

    Args:
        cache_staged_state_dict: True keeps the copy's memory for the next one; False is the
            default.
        type_check: taken from programs that give it; types are not compared (default: False).

    >>> weight, stager = taeda.ones(2), BlockingAsyncStager(cache_staged_state_dict=True)
    >>> staged = stager.stage({"weight": weight})
    >>> weight.zero_()
    tensor([0., 0.])
    >>> staged
    {'weight': tensor([1., 1.])}
    """

    _synchronize_after_execute = False

    def __init__(self, cache_staged_state_dict: bool = False, type_check: bool = False) -> None:
        self.cache_staged_state_dict, self.type_check = cache_staged_state_dict, type_check
        self._kept: dict[str, Any] | None = None

    def stage(self, state_dict: dict[str, Any]) -> dict[str, Any]:
        """A copy that nobody changes."""
        made: dict[str, Any] = _staged(state_dict, self._kept)
        self._kept = made if self.cache_staged_state_dict else None
        return made

    def synchronize_staging(self) -> None:
        """Nothing is left to do."""


def _staged(value: Any, kept: Any) -> Any:
    """A copy: tensors on the processor, into kept memory that fits, containers and objects anew."""
    if isinstance(value, Tensor):
        return _copied(value, kept)
    if isinstance(value, dict):
        before = kept if isinstance(kept, dict) else {}
        return {key: _staged(inner, before.get(key)) for key, inner in value.items()}
    if isinstance(value, list):
        before_list = (
            kept if isinstance(kept, list) and len(kept) == len(value) else [None] * len(value)
        )
        return [_staged(inner, old) for inner, old in zip(value, before_list, strict=True)]
    return copy.deepcopy(value)


def _copied(value: Tensor, kept: Any) -> Tensor:
    with taeda.no_grad():
        same = type(kept) is type(value) is Tensor and kept.shape == value.shape
        if same and kept.dtype == value.dtype and kept.device.type == "cpu":
            made: Tensor = kept.detach().copy_(value.detach())
            return made.requires_grad_(value.requires_grad)
        copied = value.detach().clone().requires_grad_(value.requires_grad)
        return copied if hasattr(value, "__create_chunk_list__") else copied.cpu()
