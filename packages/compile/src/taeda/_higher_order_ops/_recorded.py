"""Whether a graph is being made, which has a loop as one call."""

from __future__ import annotations

from typing import Any

from taeda._core_api import programs as _core

__all__ = ["recorded"]


def recorded(cond_fn: Any, body_fn: Any, carried: Any) -> Any:
    """The loop by a tensor as one call of the graph that is being made; None without one."""
    for tracer in reversed(_core.tracers.entered):
        loop = getattr(tracer, "loop", None)
        if loop is not None:
            return loop(cond_fn, body_fn, carried)
    return None
