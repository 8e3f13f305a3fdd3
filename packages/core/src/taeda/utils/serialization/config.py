"""What `taeda.save` and `taeda.load` do when their arguments do not say: `config.save.compute_crc32 = False`.

`save.compute_crc32`, `load.mmap`, `load.mmap_flags` and `load.endianness`; the functions of
`taeda.serialization` change the same values.
"""

from __future__ import annotations

from taeda._io.settings import load, save

__all__ = ["load", "save"]
