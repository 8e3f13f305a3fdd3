"""Page-locked memory for batches, from which an accelerator copies faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import taeda
from taeda._core_api import warn

from .collate import _like_mapping, _like_sequence

__all__ = ["pin_memory", "pins"]


def pins(wanted: bool) -> bool:
    """Whether batches are to be pinned; a warning if that is wanted and there is nothing to pin them for."""
    if wanted and not taeda.cuda.is_available():
        warn(
            "'pin_memory' argument is set as true but no accelerator is found, "
            "then device pinned memory won't be used.",
        )
        return False
    return wanted


def pin_memory(data: Any) -> Any:
    """`data` with its tensors in pinned memory, inside mappings, sequences and named tuples.

    Other values are asked for their own `pin_memory()`, and stay as they are if they have none.
    """
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: pin_memory(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(pin_memory, data))
    if isinstance(data, tuple):
        return [pin_memory(entry) for entry in data]
    if isinstance(data, Sequence):
        return _like_sequence(data, [pin_memory(entry) for entry in data])
    return data
