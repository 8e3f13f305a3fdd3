"""numpy's files: .npy, one array, and .npz, a zip of them. Numbers only; pickled objects are never read.

\\x93NUMPY | version | length of the header | {'descr': '<f4', 'fortran_order': False, 'shape': (2,
3), } | numbers
"""

from __future__ import annotations

import math
import re
import sys
import zlib
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from .geometry import row_major
from .opened import opened
from .place import Place
from .safetensors import FormatError
from .source import Source
from .swap import swap_bytes
from .zipfile import Record

__all__ = ["is_npz", "read_npy", "read_npz"]

_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000
_MOST_DIMS = 64
_INFLATED = 16  # bytes that one compressed byte may become; numbers rarely shrink to less
_LEAST = 16 << 20

_DTYPES = {
    "b1": "bool",
    "u1": "uint8",
    "i1": "int8",
    "u2": "uint16",
    "i2": "int16",
    "u4": "uint32",
    "i4": "int32",
    "u8": "uint64",
    "i8": "int64",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "c8": "complex64",
    "c16": "complex128",
}
# What numpy writes, and nothing more: no expression is evaluated.
_HEADER = re.compile(
    r"\{'descr': '([<>|=])([a-zA-Z]\d{0,4})', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,19}, ){0,63}(?:\d{1,19},?)?)\),? ?\}[ ]*\n?"
)


@dataclass(frozen=True)
class _Header:
    dtype: Any
    shape: tuple[int, ...]
    fortran: bool
    swapped: bool
    begin: int  # of the numbers

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_npy(f: Any, map_location: Any, mmap: bool) -> Tensor:
    """The array in a .npy file, as a tensor."""
    with opened(f, mmap) as source:
        return _read(source, 0, source.size, Place(map_location), "the file")


def _read(
    source: Source, begin: int, size: int, place: Place, name: str, crc: int | None = None
) -> Tensor:
    header = _header(source.read(begin, min(size, _LONGEST_HEADER)), size, name)
    if place.is_meta("cpu"):
        return taeda.empty(header.shape, dtype=header.dtype, device="meta")
    data, sum = source.tensor(begin + header.begin, header.nbytes)
    if crc is not None and sum is not None:
        _check_sum(source.read(begin, header.begin), data, crc, name)
    return _tensor(place.moved(data, "cpu"), header)


def _check_sum(head: bytes, data: Tensor, crc: int, name: str) -> None:
    if _core.crc32(data.numpy(), _core.crc32(head)) != crc:
        raise FormatError(f"{name} is damaged: its checksum differs")


def _tensor(data: Tensor, header: _Header) -> Tensor:
    if header.swapped and data.numel():
        data = swap_bytes(data, header.dtype)
    shape = header.shape[::-1] if header.fortran else header.shape
    made = _core.on_storage(data, header.dtype, shape, row_major(shape), 0)
    return made.permute(*range(len(shape))[::-1]) if header.fortran and shape else made


def _header(data: bytes | bytearray, size: int, name: str) -> _Header:
    """The header of a file of `size` bytes that begins with `data`, checked against that size."""
    if data[:6] != _MAGIC or data[6:8] not in (b"\1\0", b"\2\0", b"\3\0"):
        raise FormatError(f"{name} is no numpy array, or one of a version that is not known")
    wide = 4 if data[6] > 1 else 2
    length = int.from_bytes(data[8 : 8 + wide], "little")
    begin = 8 + wide + length
    if begin > len(data):
        raise FormatError(f"{name} is truncated, or claims a header of {length} bytes")
    found = _HEADER.fullmatch(data[8 + wide : begin].decode("latin-1"))
    if found is None:
        raise FormatError(
            f"{name} has a header that is none of a plain array: save one array of numbers "
            "(records, texts and objects are not read)"
        )
    order, code, fortran, sizes = found.groups()
    if code not in _DTYPES:
        raise FormatError(f"{name} holds numpy's dtype {order + code!r}, which no tensor has")
    shape = tuple(int(text) for text in re.findall(r"\d+", sizes))
    dtype = getattr(taeda, _DTYPES[code])
    swapped = (order == ">") == (sys.byteorder == "little") and order in "<>"
    made = _Header(dtype, shape, fortran == "True", swapped and dtype.itemsize > 1, begin)
    if len(shape) > _MOST_DIMS or begin + made.nbytes != size:
        raise FormatError(
            f"{name} has {size - begin} bytes of numbers, and {order + code} of shape {shape} takes "
            f"{made.nbytes}"
        )
    return made


# ---- npz ----


def is_npz(records: dict[str, Record]) -> bool:
    """Whether numpy wrote an archive with these records."""
    return all(name.endswith(".npy") for name in records)


def read_npz(source: Source, place: Place, records: dict[str, Record]) -> dict[str, Tensor]:
    """The arrays in an .npz file, by name."""
    wanted = sum(record.nbytes for record in records.values() if record.deflated)
    limit = max(_LEAST, _INFLATED * source.size)
    if wanted > limit:
        raise FormatError(
            f"the archive unpacks to {wanted} bytes, more than {limit}: refused as a bomb. If it is "
            "yours, load it with numpy and save it with numpy.savez"
        )
    return {
        name.removesuffix(".npy"): _member(source, record, place)
        for name, record in records.items()
    }


def _member(source: Source, record: Record, place: Place) -> Tensor:
    name = f"the array {record.name.removesuffix('.npy')!r:.100}"
    if not record.deflated:
        return _read(source, record.begin, record.nbytes, place, name, record.crc)
    data = _inflated(source.read(record.begin, record.stored), record.nbytes, name)
    if _core.crc32(data) != record.crc:
        raise FormatError(f"{name} is damaged: its checksum differs")
    header = _header(data[:_LONGEST_HEADER], len(data), name)
    if place.is_meta("cpu"):
        return taeda.empty(header.shape, dtype=header.dtype, device="meta")
    if not header.nbytes:
        return taeda.empty(header.shape, dtype=header.dtype)
    bytes = _core.from_buffer(memoryview(data)[header.begin :], taeda.uint8).clone()
    return _tensor(place.moved(bytes, "cpu"), header)


def _inflated(data: bytes, size: int, name: str) -> bytearray:
    """`size` bytes from compressed ones. Never makes more than that."""
    machine = zlib.decompressobj(-15)
    try:
        made = machine.decompress(data, size + 1)
    except zlib.error as error:
        raise FormatError(f"{name} is damaged: {error}") from None
    if len(made) != size or machine.unconsumed_tail or machine.unused_data or not machine.eof:
        raise FormatError(f"{name} unpacks to another size than the {size} bytes that are told")
    return bytearray(made)
