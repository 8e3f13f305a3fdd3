"""Memory that several processes see."""

from __future__ import annotations

from taeda._storage.sharing import SHARED, gather, reserved_file

__all__ = ["SHARED", "gather", "reserved_file"]
