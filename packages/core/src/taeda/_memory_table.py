"""What stands below an error of memory that is out: who holds it, where taeda-profiler is installed."""

from __future__ import annotations

__all__ = ["memory_table"]


def memory_table() -> str:
    """The table of `taeda.profiler.memory`, or how to get it."""
    try:
        from taeda.profiler import memory  # upward: where it is installed; late: it needs Tensor
    except ImportError:
        return "pip install taeda-profiler, and this says who holds memory"
    return str(memory())
