"""The doors of public functions that are written in Python, at which overrides are asked, and the way by
which no override is.
"""

from __future__ import annotations

from taeda._layers import DisableTorchFunction
from taeda._layers.doors import (
    asks,
    call_others,
    exact,
    is_for_others,
    require_tensors,
    tail,
    watched,
)

__all__ = [
    "DisableTorchFunction",
    "asks",
    "call_others",
    "exact",
    "is_for_others",
    "require_tensors",
    "tail",
    "watched",
]
