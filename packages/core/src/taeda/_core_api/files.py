"""Writing files so that no reader ever sees half of one, and classes of a sibling whose objects
files may hold.
"""

from __future__ import annotations

from taeda._io.atomic import atomic_write
from taeda._io.safetypes import Family, register_family

__all__ = ["Family", "atomic_write", "register_family"]
