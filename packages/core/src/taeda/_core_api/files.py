"""Writing files so that no reader ever sees half of one, the checksum that they carry, archives that
are read strictly, and classes of a sibling whose objects files may hold.
"""

from __future__ import annotations

from taeda._io.atomic import atomic_write
from taeda._io.opened import opened
from taeda._io.pt.plain_pickle import data_of_pickle
from taeda._io.safetensors import FormatError
from taeda._io.safetypes import Family, register_family
from taeda._io.urls import file_system, is_url, without_file_protocol, written_url
from taeda._io.zipfile import Record, read_directory
from taeda._native.core import crc32c

__all__ = [
    "Family", "FormatError", "Record", "atomic_write", "crc32c", "data_of_pickle", "file_system", "is_url",
    "opened", "read_directory", "register_family", "without_file_protocol", "written_url",
]  # fmt: skip
