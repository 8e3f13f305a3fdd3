"""What programs set for all saves and loads; `taeda.utils.serialization.config` shows it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from mmap import MAP_PRIVATE

__all__ = ["LoadEndianness", "LoadSettings", "SaveSettings", "load", "save", "skips_data"]


class LoadEndianness(Enum):
    """The order of bytes of a file that does not tell its own.

    >>> taeda.serialization.LoadEndianness.LITTLE.name
    'LITTLE'
    """

    NATIVE = 1
    LITTLE = 2
    BIG = 3


@dataclass(slots=True)
class SaveSettings:
    """compute_crc32: write a checksum for each tensor."""

    compute_crc32: bool = True


@dataclass(slots=True)
class LoadSettings:
    """mmap: what `load(mmap=None)` means. mmap_flags: MAP_PRIVATE or MAP_SHARED. endianness: of torch's files
    without a mark."""

    mmap: bool = False
    mmap_flags: int = MAP_PRIVATE
    endianness: LoadEndianness | None = None  # as this machine


save, load = SaveSettings(), LoadSettings()
#: inside `skip_data()`: numbers are neither written nor read
skips_data: ContextVar[bool] = ContextVar("taeda.skips_data", default=False)
