"""Locks that a fork waits for: a child gets none that another thread of its parent held."""

from __future__ import annotations

from taeda._forks import taken_for_forks

__all__ = ["taken_for_forks"]
