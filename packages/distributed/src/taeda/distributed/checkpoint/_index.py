"""The index of a checkpoint: one JSON file, written last, which makes the files of all ranks a checkpoint.

    {"format": "taeda.distributed.checkpoint", "version": 1, "crc32c": "....", "save": 3,
     "entries": {name: {dtype, size, boxes}, or null for what is no tensor},
     "paths": {name: [key, key, ...]}, "storage": [[name, offset, file, begin, bytes, checksums], ...]}

The checksum is that of the whole file with eight zeros in its own place.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from taeda._core_api.files import crc32c
from taeda.serialization import FormatError

from . import _boxes
from ._files import BLOCK, Stored
from ._places import Folder, written
from ._words import entries_from, entries_to
from .metadata import BytesStorageMetadata, Metadata, MetadataIndex

__all__ = ["NAME", "SHARD", "read_index", "save_number", "write_index"]

NAME = "index.json"
#: the file of a rank: the number of the save, and the rank
SHARD = re.compile(r"(\d+)-\d+\.safetensors", re.ASCII)
_FORMAT, _VERSION = "taeda.distributed.checkpoint", 1
_ZEROS = b'"crc32c":"00000000"'
_BAD = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)


def write_index(folder: Folder, number: int, metadata: Metadata) -> None:
    """Replace the index: from here on the folder holds this save."""
    rows = [_row(index, stored) for index, stored in metadata.storage_data.items()]
    told = {
        "format": _FORMAT, "version": _VERSION, "crc32c": "00000000", "save": number,
        "entries": entries_to(metadata), "paths": metadata.planner_data, "storage": rows,
    }  # fmt: skip
    data = json.dumps(told, separators=(",", ":"), allow_nan=False).encode()
    data = data.replace(_ZEROS, b'"crc32c":"%08x"' % crc32c(data, 0), 1)
    with written(folder / NAME, len(data), "full") as file:
        file.write(data)


def _row(index: MetadataIndex, stored: Stored) -> list[Any]:
    offset = None if index.offset is None else list(index.offset)
    return [index.fqn, offset, stored.file, stored.begin, stored.nbytes, stored.sums]


def read_index(folder: Folder) -> tuple[int, Metadata]:
    """The number of the save, and what it holds. FormatError for a damaged index."""
    path = folder / NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(_absent(folder)) from None
    told = _checked(path, data)
    try:
        metadata = Metadata(entries_from(told["entries"]), told["paths"])
        metadata.storage_data = dict(_stored(row) for row in told["storage"])
        _check(metadata)
        return int(told["save"]), metadata
    except _BAD as error:
        raise FormatError(f"{path} is no index that this version wrote: {error}") from error


def _absent(folder: Folder) -> str:
    kind = "holds no checkpoint: it has no" if folder.is_dir() else "is no folder, so it has no"
    return f"{folder} {kind} {NAME}"


def save_number(folder: Folder) -> int:
    """A number that no file of the folder has."""
    found = [int(m[1]) for p in folder.iterdir() if (m := SHARD.fullmatch(p.name))]
    return max(found, default=0) + 1


def _checked(path: Folder, data: bytes) -> dict[str, Any]:
    found = re.search(rb'"crc32c":"([0-9a-f]{8})"', data[:200])
    if found is None:
        raise FormatError(f"{path} is no index of a checkpoint")
    zeroed = data.replace(found[0], _ZEROS, 1)
    fits = crc32c(zeroed, 0) == int(found[1], 16)
    _check_version(path, data, fits)
    if not fits:
        raise FormatError(f"{path} is damaged: its checksum does not fit. Take an older checkpoint")
    try:
        told = json.loads(data)
    except _BAD as error:
        raise FormatError(f"{path} is no index of a checkpoint: {error}") from error
    if not isinstance(told, dict) or told.get("format") != _FORMAT:
        raise FormatError(f"{path} is no index of a checkpoint")
    return told


def _check_version(path: Folder, data: bytes, fits: bool) -> None:
    """FormatError for an index of another version, whose checksum may be another too."""
    found = re.search(rb'"version":(\d{1,9})\b', data[:200])
    version = None if found is None else int(found[1])
    if version == _VERSION:
        return
    if version is None:
        raise FormatError(f"{path} is no index of a checkpoint")
    damaged = "" if fits else ", if it is not damaged: its checksum does not fit"
    raise FormatError(
        f"{path} has version {version}, and this release reads {_VERSION}: load it with a newer "
        f"taeda-distributed{damaged}"
    )


def _stored(row: list[Any]) -> tuple[MetadataIndex, Stored]:
    name, offset, file, begin, nbytes, sums = row
    if not SHARD.fullmatch(file):
        raise ValueError(f"{file!r:.60} is no name of a rank's file")
    counts = (begin, nbytes, len(sums), *sums)
    if any(type(n) is not int or not 0 <= n < 1 << 62 for n in counts) or len(sums) != math.ceil(
        nbytes / BLOCK
    ):
        raise ValueError(f"the place of {name} makes no sense")
    return MetadataIndex(name, offset), Stored(file, begin, nbytes, sums)


def _check(metadata: Metadata) -> None:
    """Every box has a place of its size, and boxes fill their tensors."""
    for name, entry in metadata.state_dict_metadata.items():
        if isinstance(entry, BytesStorageMetadata):
            metadata.storage_data[MetadataIndex(name)]
            continue
        if fault := _boxes.fault_of(entry.size, entry.chunks):
            raise ValueError(f"{name} is not whole: {fault}")
        for box in entry.chunks:
            stored = metadata.storage_data[MetadataIndex(name, box.offsets)]
            if stored.nbytes != math.prod(box.sizes) * entry.properties.dtype.itemsize:
                raise ValueError(f"{name} has {stored.nbytes} bytes at {tuple(box.offsets)}")
    if not all(isinstance(path, list) for path in (metadata.planner_data or {}).values()):
        raise TypeError("paths are lists")
