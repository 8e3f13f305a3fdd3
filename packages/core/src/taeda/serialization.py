"""save and load: tensors, and plain data that holds them, in files that cannot run code.

A file is a safetensors file (see `_io/safetensors.py`), so other tools read its tensors. What the
layout has no word for stands in its metadata, as JSON:

    taeda.version        "1"
    taeda.tree           the saved object, with tensors by number
    taeda.tensors        [entry, dtype, shape, strides, offset, marks] for each number
    taeda.crc32          a checksum for each entry
    taeda.header_crc32   one for the header, computed with eight zeros in its own place

An entry is a storage, or the part of it that the saved tensors reach: tensors that share memory
share it again when they are loaded.
"""

from __future__ import annotations

import io
import json
import mmap as _mmap
import os
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeAlias

import taeda
from taeda import Tensor

from ._io.atomic import atomic_write
from ._io.rebuild import tensor_of_entry, tensor_of_row
from ._io.safetensors import (
    LENGTH_BYTES,
    Entry,
    FormatError,
    Header,
    header_length,
    load_json,
    parse_header,
    write_header,
)
from ._io.storages import Collector, Storage
from ._io.tree import decode, encode
from ._native import core as _core

__all__ = ["FormatError", "load", "save"]

FileLike: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
MapLocation: TypeAlias = "str | taeda.device | dict[str, str] | Callable[[Any, str], Any] | None"

VERSION = "1"
_TREE, _TENSORS, _SUMS, _HEADER_SUM, _VERSION = (
    f"taeda.{name}" for name in ("tree", "tensors", "crc32", "header_crc32", "version")
)
_NO_SUM = "0" * 8


# ---- saving ----


def save(
    obj: Any,
    f: FileLike,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write `obj` to a path, or to an object with `write`.

    `obj` is a tensor, a number, a text, None, or dicts, lists, tuples and sets of those: what
    `state_dict()` gives. Tensors that share memory share it after loading, and so do tensors that
    are one object. A path is replaced as a whole or not at all. TypeError for other objects, with
    the place they were found at. There is no pickling: `pickle_protocol` has no effect.
    """
    if pickle_module is not None:
        raise TypeError("save() writes no pickles, so there is nothing for pickle_module to do")
    collector = Collector()
    tree = encode(obj, collector.keep)
    storages = sorted(collector.storages.values(), key=lambda s: -s.align)
    metadata = {
        "format": "taeda",
        _VERSION: VERSION,
        _TREE: _dump(tree),
        _TENSORS: _dump(collector.described()),
    }
    if isinstance(f, (str, os.PathLike)):
        with atomic_write(f) as file:
            _write(file, storages, metadata)
    elif hasattr(f, "write"):
        _write(f, storages, metadata)
    else:
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute, "
            f"got {type(f).__name__}"
        )


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
    return f"{_core.crc32(data):08x}"


def _write(file: Any, storages: list[Storage], metadata: dict[str, str]) -> None:
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


# ---- loading ----


def load(
    f: FileLike,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **options: Any,
) -> Any:
    """Read what `save` wrote, from a path or an object with `read`; or any safetensors file.

    A file is checked before anything is made of it: FormatError (a RuntimeError) says what is
    wrong with it, EOFError that it is empty. Checksums are compared, except with `mmap=True`,
    which maps the file privately and reads what is used. `map_location` names the device to load
    to ("meta" reads no data). Loading never runs code, whatever `weights_only` says.

    >>> import io
    >>> file = io.BytesIO()
    >>> save({"weight": taeda.ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> load(file)
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    if pickle_module is not None or options:
        given = ["pickle_module"] * (pickle_module is not None) + sorted(options)
        raise RuntimeError(f"load() reads no pickles, so it takes no {', '.join(given)}")
    to_meta = _is_meta(map_location)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb", buffering=0) as file:
            return _load(file, os.fstat(file.fileno()).st_size, bool(mmap), to_meta, map_location)
    if mmap:
        raise ValueError("f must be a file name in order to use the mmap argument")
    if not hasattr(f, "read"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'read' attribute, "
            f"got {type(f).__name__}"
        )
    stream, size = _seekable(f)
    return _load(stream, size, False, to_meta, map_location)


def _seekable(file: Any) -> tuple[Any, int]:
    """The file, or its content if it cannot seek, and how many bytes it still has."""
    try:
        here = file.tell()
        size = file.seek(0, os.SEEK_END) - here
        file.seek(here)
    except (AttributeError, OSError):  # also io.UnsupportedOperation
        content = file.read()
        return io.BytesIO(content), len(content)
    return file, size


def _is_meta(map_location: MapLocation) -> bool:
    """Whether tensors from the cpu go to the meta device."""
    if isinstance(map_location, dict):
        map_location = map_location.get("cpu")
    if map_location is None or callable(map_location):
        return False
    return taeda.empty(0, device=map_location).is_meta  # RuntimeError if the device is not there


def _load(file: Any, size: int, mapped: bool, to_meta: bool, map_location: MapLocation) -> Any:
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
