"""One graph for many sizes, from traces at several."""

from __future__ import annotations

from .tracer import traced_for_any_size

__all__ = ["traced_for_any_size"]
