"""Folders that torch.distributed.checkpoint wrote, read as data: nothing of them is imported or called.

`.metadata` is a pickle of nine record classes, whose fields are put in place. Pieces are zips as
`torch.save` writes them, one after the other in the files of the ranks.
"""

from __future__ import annotations

import enum
import io
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import taeda
from taeda._core_api.files import data_of_pickle
from taeda.serialization import FormatError, safe_globals

from .metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)

__all__ = ["NAME", "piece_of", "read_torch_folder"]

NAME = ".metadata"
_one = threading.Lock()  # what is allowed is so for all threads
_MODULE = "torch.distributed.checkpoint.metadata"


@dataclass
class _Metadata:
    state_dict_metadata: Any = None
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: Any = None
    version: Any = None


@dataclass
class _Tensor:
    properties: Any = None
    size: Any = None
    chunks: Any = None


@dataclass
class _Properties:
    dtype: Any = None
    layout: Any = None
    requires_grad: Any = None
    memory_format: Any = None
    pin_memory: Any = None


@dataclass
class _Chunk:
    offsets: Any = None
    sizes: Any = None


@dataclass
class _Bytes:
    pass


@dataclass(frozen=True)
class _Index:
    fqn: Any = None
    offset: Any = None
    index: Any = None


@dataclass
class _StorageMeta:
    checkpoint_id: Any = None
    save_id: Any = None
    load_id: Any = None
    modules: Any = field(default_factory=list)


@dataclass
class _Stored:
    relative_path: Any = None
    offset: Any = None
    length: Any = None
    transform_descriptors: Any = None


class _MemoryFormat(enum.Enum):
    A, B, C, D = range(4)


_KNOWN: list[Any] = [
    (_Metadata, f"{_MODULE}.Metadata"),
    (_Tensor, f"{_MODULE}.TensorStorageMetadata"),
    (_Properties, f"{_MODULE}.TensorProperties"),
    (_Chunk, f"{_MODULE}.ChunkStorageMetadata"),
    (_Bytes, f"{_MODULE}.BytesStorageMetadata"),
    (_Index, f"{_MODULE}.MetadataIndex"),
    (_StorageMeta, f"{_MODULE}.StorageMeta"),
    (_MemoryFormat, f"{_MODULE}._MEM_FORMAT_ENCODING"),
    (_Stored, "torch.distributed.checkpoint.filesystem._StorageInfo"),
]


def read_torch_folder(folder: Path) -> Metadata:
    """What the folder holds. FormatError for what is no data, or makes no sense."""
    path = folder / NAME
    with _one, safe_globals(_KNOWN):
        made = data_of_pickle(path.read_bytes())
    try:
        entries = {name: _entry(one) for name, one in made.state_dict_metadata.items()}
        paths = {name: list(place) for name, place in (made.planner_data or {}).items()}
        metadata = Metadata(entries, paths)
        metadata.storage_data = {
            MetadataIndex(index.fqn, index.offset): _place(index.fqn, stored)
            for index, stored in made.storage_data.items()
        }
    except (AttributeError, TypeError, ValueError, KeyError) as error:
        raise FormatError(f"{path} is no index as torch writes it: {error}") from error
    metadata.storage_meta = StorageMeta(str(folder), save_id="torch")
    return metadata


def _entry(one: Any) -> Any:
    if isinstance(one, _Bytes):
        return BytesStorageMetadata()
    if not isinstance(one, _Tensor) or not isinstance(one.properties.dtype, taeda.dtype):
        raise TypeError(f"an entry is a {type(one).__name__}")
    properties = TensorProperties(one.properties.dtype, bool(one.properties.requires_grad))
    chunks = [ChunkStorageMetadata(_sizes(c.offsets), _sizes(c.sizes)) for c in one.chunks]
    return TensorStorageMetadata(properties, _sizes(one.size), chunks)


def _sizes(value: Any) -> taeda.Size:
    if not isinstance(value, tuple) or any(type(n) is not int or n < 0 for n in value):
        raise ValueError(f"{value!r:.80} is no size")
    return taeda.Size(value)


def _place(name: str, stored: Any) -> tuple[str, int, int]:
    if stored.transform_descriptors:
        raise ValueError(
            f"{name} was written through {list(stored.transform_descriptors)}, which are not read: save "
            "it without"
        )
    file = stored.relative_path
    bad = not isinstance(file, str) or "/" in file or "\\" in file or file in ("", ".", "..")
    if bad or any(type(n) is not int or n < 0 for n in (stored.offset, stored.length)):
        raise ValueError(f"the place of {name} makes no sense: {file!r:.80}")
    return file, stored.offset, stored.length


def piece_of(folder: Path, place: tuple[str, int, int], name: str) -> Callable[[], io.BytesIO]:
    """What gives the bytes of a piece. FormatError where the file is shorter."""
    file, begin, length = place

    def read() -> io.BytesIO:
        with open(folder / file, "rb") as opened:
            opened.seek(begin)
            data = opened.read(length)
        if len(data) < length:
            raise FormatError(f"{folder / file} is cut off: {name} ends at {begin + length}")
        return io.BytesIO(data)

    return read
