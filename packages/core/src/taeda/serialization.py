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
from dataclasses import dataclass, field
from typing import IO, Any, TypeAlias

import taeda
from taeda import Tensor

from ._io.atomic import atomic_write
from ._io.safetensors import (
    LENGTH_BYTES,
    Entry,
    FormatError,
    Header,
    header_length,
    is_count,
    load_json,
    parse_header,
    write_header,
)
from ._io.tree import decode, dtype_named, encode
from ._native import core as _core

__all__ = ["FormatError", "load", "save"]

FileLike: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
MapLocation: TypeAlias = "str | taeda.device | dict[str, str] | Callable[[Any, str], Any] | None"

VERSION = "1"
_TREE, _TENSORS, _SUMS, _HEADER_SUM, _VERSION = (
    f"taeda.{name}" for name in ("tree", "tensors", "crc32", "header_crc32", "version")
)
_NO_SUM = "0" * 8

_CODES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "uint16": "U16",
    "int32": "I32",
    "uint32": "U32",
    "int64": "I64",
    "uint64": "U64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}
_NAMES = {code: name for name, code in _CODES.items()}
_PAIRS = {"complex32": "F16", "complex64": "F32", "complex128": "F64"}  # real and imaginary part


# ---- what to save ----


def _dtype_name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


@dataclass
class _Storage:
    """A storage, and the bytes of it that the saved tensors reach."""

    owner: Tensor  # the first tensor saved on it
    name: str
    begin: int
    end: int
    dtypes: set[str] = field(default_factory=set)

    @property
    def align(self) -> int:
        return max(getattr(taeda, name).itemsize for name in self.dtypes)

    def data(self) -> memoryview:
        return memoryview(_core.storage_bytes(self.owner))[self.begin : self.end]

    def shape(self) -> tuple[str, tuple[int, ...]]:
        """The format's dtype and shape: the owner's if it is what the entry holds, else flat."""
        size, dtype = self.end - self.begin, _dtype_name(self.owner.dtype)
        if len(self.dtypes) > 1 or dtype not in _CODES | _PAIRS:
            return "U8", (size,)
        item = self.owner.element_size()
        whole = self.owner.is_contiguous() and self.owner.numel() * item == size
        shape = tuple(self.owner.shape) if whole else (size // item,)
        return (_CODES[dtype], shape) if dtype in _CODES else (_PAIRS[dtype], (*shape, 2))


class _Collector:
    """Takes the tensors of an object, and finds out which storages they need."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.kept: list[Tensor] = []  # keeps ids from being used again
        self.rows: list[tuple[Any, Tensor, list[str]]] = []
        self.storages: dict[Any, _Storage] = {}
        self.names: set[str] = {"__metadata__"}

    def keep(self, tensor: Tensor, path: str) -> int:
        """The number of a tensor; the same object has the same number."""
        found = self.numbers.get(id(tensor))
        if found is not None:
            return found
        self.kept.append(tensor)
        plain, marks = _plain(tensor, path)
        key = None if plain.device.type == "meta" else self._add_to_storage(plain, path)
        self.numbers[id(tensor)] = len(self.rows)
        self.rows.append((key, plain, marks))
        return len(self.rows) - 1

    def _add_to_storage(self, tensor: Tensor, path: str) -> Any:
        begin, end = _extent(tensor)
        key = _core.storage_address(tensor) if end > begin else len(self.rows)
        storage = self.storages.get(key)
        if storage is None:
            storage = self.storages[key] = _Storage(tensor, self._name(path), begin, end)
        storage.begin, storage.end = min(begin, storage.begin), max(end, storage.end)
        storage.dtypes.add(_dtype_name(tensor.dtype))
        return key

    def _name(self, path: str) -> str:
        name = path = path.encode(errors="replace").decode() or "tensor"
        copies = 1
        while name in self.names:
            copies += 1
            name = f"{path}#{copies}"
        self.names.add(name)
        return name

    def described(self) -> list[Any]:
        """One row for each tensor: where it lies, and what it is besides its numbers."""
        return [self._row(*row) for row in self.rows]

    def _row(self, key: Any, tensor: Tensor, marks: list[str]) -> list[Any]:
        storage = self.storages.get(key) if key is not None else None
        item = tensor.element_size()
        offset = (tensor.storage_offset() - storage.begin // item) if storage else 0
        if tensor.numel() == 0:
            offset = 0
        name, strides = storage.name if storage else None, list(tensor.stride())
        return [name, _dtype_name(tensor.dtype), list(tensor.shape), strides, offset, marks]


def _plain(tensor: Tensor, path: str) -> tuple[Tensor, list[str]]:
    """The strided tensor that holds the numbers, and marks for what it is besides."""
    kind = type(tensor).__name__
    if kind not in ("Tensor", "Parameter", "Buffer"):
        raise TypeError(f"cannot save '{path}', a {kind}: convert it to a plain Tensor first")
    if tensor.layout is not taeda.strided:
        raise NotImplementedError(f"cannot save '{path}': its layout is {tensor.layout}")
    marks = ["Parameter"] if kind == "Parameter" else []
    if tensor.requires_grad:
        marks.append("requires_grad")
    plain = tensor.detach()
    if plain.is_neg():
        plain = plain.resolve_neg()
    if plain.is_conj():
        plain = plain.conj()
        marks.append("conj")
    if plain.device.type == "meta":
        marks.append("meta")
    return plain, marks


def _extent(tensor: Tensor) -> tuple[int, int]:
    """The bytes of its storage that a tensor reaches; whole elements of every dtype."""
    if tensor.numel() == 0:
        return 0, 0
    item, offset = tensor.element_size(), tensor.storage_offset()
    last = offset + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    begin = offset * item
    return begin - begin % 16, (last + 1) * item  # 16: element offsets stay whole in any dtype


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
    collector = _Collector()
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


def _header_bytes(storages: list[_Storage], sums: list[str], metadata: dict[str, str]) -> bytes:
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


def _write(file: Any, storages: list[_Storage], metadata: dict[str, str]) -> None:
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
        return {n: _tensor_of_entry(e, bases[n]) for n, e in header.entries.items()}
    rows = _metadata_json(header, _TENSORS, list)
    tensors = [_tensor_of_row(row, header, bases, to_meta) for row in rows]
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


# ---- tensors of what was read ----


def _tensor_of_entry(entry: Entry, base: Tensor | None) -> Tensor:
    """The tensor that a plain safetensors entry is."""
    dtype = getattr(taeda, _NAMES[entry.dtype])
    if base is None:
        return taeda.empty(entry.shape, dtype=dtype, device="meta")
    return _core.on_storage(base, dtype, entry.shape, _row_major(entry.shape), 0)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides[: len(shape)]))


def _tensor_of_row(
    row: Any, header: Header, bases: dict[str, Tensor | None], to_meta: bool
) -> Tensor:
    name, dtype, shape, strides, offset, marks = _checked_row(row)
    if name is None or to_meta:
        if name is None and "meta" not in marks:
            raise FormatError("a tensor names no entry")
        made = taeda.empty_strided(shape, strides, dtype=dtype, device="meta")
    elif name not in header.entries:
        raise FormatError(f"a tensor names an entry that is not there: {name!r}")
    else:
        _check_inside(header.entries[name], name, dtype, shape, strides, offset)
        made = _core.on_storage(bases[name], dtype, shape, strides, offset)
    return _with_marks(made, marks)


def _checked_row(row: Any) -> tuple[Any, Any, tuple[int, ...], tuple[int, ...], int, list[str]]:
    if not isinstance(row, list) or len(row) != 6:
        raise FormatError(f"a tensor is described by six values, got {row!r:.80}")
    name, dtype, shape, strides, offset, marks = row
    geometry = (shape, strides)
    if not all(isinstance(x, list) and all(map(is_count, x)) for x in geometry):
        raise FormatError(
            f"shape and strides are lists of counts, got {shape!r:.80}, {strides!r:.80}"
        )
    if len(shape) != len(strides) or len(shape) > 64 or not is_count(offset):
        raise FormatError(
            f"shape {shape!r:.80}, strides {strides!r:.80} and offset {offset!r} do not fit"
        )
    if not isinstance(marks, list) or not all(isinstance(mark, str) for mark in marks):
        raise FormatError(f"marks are texts, got {marks!r:.80}")
    if name is not None and not isinstance(name, str):
        raise FormatError(f"an entry's name is a text, got {name!r:.80}")
    return name, dtype_named(dtype), tuple(shape), tuple(strides), offset, marks


def _check_inside(
    entry: Entry,
    name: str,
    dtype: Any,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
) -> None:
    if 0 in shape:
        end = 0
    else:
        last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        end = (last + 1) * dtype.itemsize
    if end > entry.nbytes:
        raise FormatError(
            f"a tensor of shape {list(shape)} and strides {list(strides)} at offset {offset} reaches "
            f"to byte {end} of entry {name!r}, which has {entry.nbytes}"
        )


def _with_marks(made: Tensor, marks: list[str]) -> Tensor:
    if "conj" in marks and made.is_complex():
        made = made.conj()
    differentiable = made.is_floating_point() or made.is_complex()
    requires_grad = "requires_grad" in marks and differentiable
    if "Parameter" in marks:
        return taeda.nn.Parameter(made, requires_grad)  # upward: a file with parameters
    return made.requires_grad_() if requires_grad else made
