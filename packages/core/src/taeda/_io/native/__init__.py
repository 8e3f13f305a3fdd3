"""Checkpoints: a safetensors file whose metadata say what the layout has no word for, as JSON.

    taeda.version         "1"
    taeda.tree            the saved object, with tensors by number
    taeda.tensors         [entry, dtype, shape, strides, offset, marks] for each number
    taeda.crc32c          a checksum for each entry, or null where none was computed
    taeda.header_crc32c   one for the header, computed with eight zeros in its own place
    taeda.locations       the place of each entry that was not on the cpu; absent if there is none

An entry is the part of a storage that the saved tensors reach: tensors that share memory share it
again when they are loaded. `docs/checkpoints.md` describes each field.
"""

from __future__ import annotations

from .reading import native_names, read_native
from .writing import Content, write_native

__all__ = ["Content", "native_names", "read_native", "write_native"]
