"""Memory of MTIA accelerators: none, as there are none."""

from __future__ import annotations

from typing import Any

__all__ = ["memory_stats"]


def memory_stats(device: Any = None) -> dict[str, Any]:
    """An empty dict: no allocator has begun.

    >>> taeda.mtia.memory_stats()
    {}
    """
    return {}
