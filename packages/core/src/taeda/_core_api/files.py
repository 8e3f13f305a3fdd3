"""Writing files so that no reader ever sees half of one, the checksum that they carry, and classes
of a sibling whose objects files may hold.
"""

from __future__ import annotations

from taeda._io.atomic import atomic_write
from taeda._io.safetypes import Family, register_family
from taeda._native.core import crc32c

__all__ = ["Family", "atomic_write", "crc32c", "register_family"]
