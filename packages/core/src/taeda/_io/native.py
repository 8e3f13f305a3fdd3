"""Checkpoints: a safetensors file whose metadata say what the layout has no word for, as JSON.

    taeda.version         "1"
    taeda.tree            the saved object, with tensors by number
    taeda.tensors         [entry, dtype, shape, strides, offset, marks] for each number
    taeda.crc32c          a checksum for each entry
    taeda.header_crc32c   one for the header, computed with eight zeros in its own place

An entry is a storage, or the part of it that the saved tensors reach: tensors that share memory
share it again when they are loaded.
"""

from __future__ import annotations

import json
import mmap as _mmap
import os
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from .location import is_meta
from .rebuild import tensor_of_entry, tensor_of_row
from .safetensors import (
    LENGTH_BYTES,
    Entry,
    FormatError,
    Header,
    header_length,
    load_json,
    parse_header,
    write_header,
)
from .storages import Collector, Storage
from .tree import decode, encode

__all__ = ["prepare", "read_native", "write_native"]

VERSION = "1"
_TREE, _TENSORS, _SUMS, _HEADER_SUM, _VERSION = (
    f"taeda.{name}" for name in ("tree", "tensors", "crc32c", "header_crc32c", "version")
)
_NO_SUM = "0" * 8


# ---- writing ----


def prepare(obj: Any) -> tuple[list[Storage], dict[str, str]]:
    """What a file for `obj` holds: storages, and the metadata. TypeError for what cannot be saved."""
    collector = Collector()
    tree = encode(obj, collector.keep)
    storages = sorted(collector.storages.values(), key=lambda s: -s.align)
    metadata = {
        "format": "taeda",
        _VERSION: VERSION,
        _TREE: _dump(tree),
        _TENSORS: _dump(collector.described()),
    }
    return storages, metadata


def _dump(value: Any) -> str:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise ValueError("cannot save the object: nested too deeply") from None


def _header_bytes(storages: list[Storage], sums: list[str], metadata: dict[str, str]) -> bytes:
    """The header with its checksums; its length does not depend on them."""
    entries, position = {}, 0
    for storage in storages:
        size = storage.end - storage.begin
        code, shape = storage.shape()
        entries[storage.name] = Entry(code, shape, position, position + size)
        position += size
    named = dict(zip(entries, sums, strict=True))
    metadata = {**metadata, _SUMS: _dump(named), _HEADER_SUM: _NO_SUM}
    text = write_header(Header(entries, metadata))
    return write_header(Header(entries, {**metadata, _HEADER_SUM: _sum(text[LENGTH_BYTES:])}))


def _sum(data: bytes | memoryview) -> str:
    return f"{_core.crc32c(data):08x}"


def write_native(file: Any, storages: list[Storage], metadata: dict[str, str]) -> None:
    """Write what `prepare` gave to an object with `write`."""
    sums = [_sum(storage.data()) for storage in storages]
    _write_all(file, memoryview(_header_bytes(storages, sums, metadata)))
    for storage in storages:
        _write_all(file, storage.data())


def _write_all(file: Any, data: memoryview) -> None:
    while data.nbytes:
        written = file.write(data)
        if written is None:  # what an object with `write` need not say
            return
        data = data[written:]


# ---- reading ----


def read_native(f: Any, map_location: Any, mmap: bool) -> Any:
    """The object in a file of ours; the dict of tensors in another safetensors file."""
    to_meta = is_meta(map_location)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb", buffering=0) as file:
            return _load(file, os.fstat(file.fileno()).st_size, mmap, to_meta, map_location)
    here = f.tell()
    size = f.seek(0, os.SEEK_END) - here
    f.seek(here)
    return _load(f, size, False, to_meta, map_location)


def _load(file: Any, size: int, mapped: bool, to_meta: bool, map_location: Any) -> Any:
    header = _read_header(file, size)
    start = size - max((e.end for e in header.entries.values()), default=0)
    own = _is_own(header)
    sums = _checksums(header) if own else {}
    if to_meta:
        bases: dict[str, Tensor | None] = dict.fromkeys(header.entries)
    elif mapped:
        bases = dict(_map_entries(file, header, start))
    else:
        bases = dict(_read_entries(file, header, sums))
    if callable(map_location):
        for base in bases.values():
            map_location(base.untyped_storage() if base is not None else None, "cpu")
    if not own:
        return {n: tensor_of_entry(e, bases[n]) for n, e in header.entries.items()}
    rows = _metadata_json(header, _TENSORS, list)
    tensors = [tensor_of_row(row, header, bases, to_meta) for row in rows]
    return decode(load_json(header.metadata[_TREE], "the tree"), tensors)


def _read_header(file: Any, size: int) -> Header:
    if size == 0:
        raise EOFError("the file is empty")
    length = header_length(_read(file, min(size, LENGTH_BYTES)), size)
    text = _read(file, length)
    header = parse_header(text, size - LENGTH_BYTES - length)
    if not _is_own(header):
        return header
    if header.metadata.get(_VERSION, VERSION) != VERSION:
        raise FormatError(
            f"the file has version {header.metadata[_VERSION]!r} of this format, and this is a "
            f"reader of version {VERSION!r}"
        )
    if missing := {_VERSION, _TREE, _TENSORS, _SUMS, _HEADER_SUM} - header.metadata.keys():
        raise FormatError(f"the metadata lacks {', '.join(sorted(missing))}")
    _check_header_sum(text, header.metadata[_HEADER_SUM])
    return header


def _is_own(header: Header) -> bool:
    """Whether `save` wrote this; any of its words says so, for one of them may be damaged."""
    return any(key.startswith("taeda.") for key in header.metadata)


def _check_header_sum(text: bytes, told: str) -> None:
    mark = f'"{_HEADER_SUM}":"'.encode()
    before, found, after = text.partition(mark)
    if not found or _sum(before + mark + _NO_SUM.encode() + after[len(_NO_SUM) :]) != told:
        raise FormatError("the header is damaged: its checksum differs")


def _metadata_json(header: Header, key: str, kind: type) -> Any:
    value = load_json(header.metadata[key], key)
    if type(value) is not kind:
        raise FormatError(f"{key} must be a {kind.__name__}, got a {type(value).__name__}")
    return value


def _checksums(header: Header) -> dict[str, str]:
    sums = _metadata_json(header, _SUMS, dict)
    if sums.keys() != header.entries.keys():
        raise FormatError("the checksums are not those of the entries")
    return sums


def _read(file: Any, count: int) -> bytes:
    parts, missing = [], count
    while missing:
        part = file.read(missing)
        if not part:
            raise FormatError(f"the file ended {missing} bytes early")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _read_entries(
    file: Any, header: Header, sums: dict[str, str]
) -> Iterator[tuple[str, Tensor | None]]:
    """Each entry's bytes, as a tensor with a storage of its own."""
    for name, entry in sorted(header.entries.items(), key=lambda pair: pair[1].place):
        base = taeda.empty(entry.nbytes, dtype=taeda.uint8)
        data = memoryview(_core.storage_bytes(base))[: entry.nbytes]
        _read_into(file, data)
        if sums and _sum(data) != sums[name]:
            raise FormatError(f"entry {name!r} is damaged: its checksum differs")
        yield name, base


def _read_into(file: Any, data: memoryview) -> None:
    while data.nbytes:
        if hasattr(file, "readinto"):
            count = file.readinto(data)
        else:
            part = file.read(data.nbytes)
            count = len(part)
            data[:count] = part
        if not count:
            raise FormatError(f"the file ended {data.nbytes} bytes early")
        data = data[count:]


def _map_entries(file: Any, header: Header, start: int) -> Iterator[tuple[str, Tensor | None]]:
    """Each entry's bytes in a private map of the file: writing to them changes no file."""
    whole = memoryview(_mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_COPY))  # tensors keep it
    for name, entry in header.entries.items():
        if entry.nbytes == 0:
            yield name, taeda.empty(0, dtype=taeda.uint8)
            continue
        part = whole[start + entry.begin : start + entry.end]
        base = _core.from_buffer(part, taeda.uint8)
        aligned = (start + entry.begin) % 8 == 0 or entry.dtype in ("U8", "I8", "BOOL")
        yield name, base if aligned else base.clone()
