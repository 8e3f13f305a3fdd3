"""map_location: where loaded tensors go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import taeda

__all__ = ["MapLocation", "is_meta"]

MapLocation: TypeAlias = "str | taeda.device | dict[str, str] | Callable[[Any, str], Any] | None"


def is_meta(map_location: MapLocation) -> bool:
    """Whether tensors from the cpu go to the meta device."""
    if isinstance(map_location, dict):
        map_location = map_location.get("cpu")
    if map_location is None or callable(map_location):
        return False
    return taeda.empty(0, device=map_location).is_meta  # RuntimeError if the device is not there
