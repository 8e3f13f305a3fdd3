"""Whether a graph is being made, which has a loop or a scan as one call."""

from __future__ import annotations

from typing import Any

from taeda._core_api import programs as _core

__all__ = ["recorded"]


def recorded(kind: str, *args: Any) -> Any:
    """The "loop" by a tensor, or the "scan", as one call of the graph that is being made; None
    without one.
    """
    for tracer in reversed(_core.tracers.entered):
        record = getattr(tracer, kind, None)
        if record is not None:
            return record(*args)
    return None
