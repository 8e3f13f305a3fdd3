"""Writing files so that no reader ever sees half of one."""

from __future__ import annotations

from taeda._io.atomic import atomic_write

__all__ = ["atomic_write"]
