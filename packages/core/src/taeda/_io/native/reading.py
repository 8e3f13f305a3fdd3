"""Reading a checkpoint, or any safetensors file."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from .. import settings
from ..headerscan import check_long_header
from ..opened import opened
from ..place import Place
from ..progress import Advance, Wish, progress
from ..rebuild import alignments, entries_of_data, tensor_of_entry, tensor_of_row
from ..safetensors import (
    ITEM_BYTES,
    LENGTH_BYTES,
    Entry,
    FormatError,
    Header,
    header_length,
    load_json,
    parse_header,
)
from ..source import Source
from ..tree import decode, names_in_tree, parse
from .layout import KEYS, REQUIRED, UNKNOWN, VERSION, header_is_whole

__all__ = ["native_names", "read_native"]

_BEGINNING = 1 << 16  # bytes of the header, in which a file of ours has said what it is
Bases = dict[str, Tensor | None]  # the bytes of each entry; None for one that is not read


def read_native(
    f: Any,
    map_location: Any,
    mmap: bool,
    *,
    verify: bool | None = None,
    progress: Wish = False,
) -> Any:
    """The object in a file of ours; the dict of tensors in another safetensors file.

    `verify` says whether checksums are compared; None: unless the file is mapped.
    """
    with opened(f, mmap) as source:
        header, start = _read_header(source)
        verify = not mmap if verify is None else verify
        if not _is_own(header):
            reader = _Reader(source, header, start, {}, Place(map_location), progress)
            bases = reader.bases(set())
            return {n: tensor_of_entry(e, bases[n]) for n, e in header.entries.items()}
        sums = _checksums(header)
        rows = _metadata_json(header, KEYS.TENSORS, list)
        reader = _Reader(
            source, header, start, sums if verify else {}, Place(map_location), progress
        )
        reader.aligns = alignments(rows) if mmap else {}
        bases = reader.bases(entries_of_data(rows))
        tensors = [tensor_of_row(row, header, bases) for row in rows]
        return decode(parse(header.metadata[KEYS.TREE]), tensors)


def native_names(f: Any) -> list[str]:
    """The names of classes and functions in a file of ours that nobody allowed."""
    with opened(f, mmap=False) as source:
        header, _ = _read_header(source)
        if not _is_own(header):
            return []
        return names_in_tree(parse(header.metadata[KEYS.TREE]))


class _Reader:
    """Fetches the entries of a file."""

    def __init__(
        self,
        source: Source,
        header: Header,
        start: int,
        sums: dict[str, str],
        place: Place,
        wish: Wish,
    ) -> None:
        self.source, self.header, self.start, self.sums = source, header, start, sums
        self.place, self.locations = place, _locations(header)
        self.damaged: list[str] = []
        self.aligns: dict[Any, int] = {}
        total = sum(entry.nbytes for entry in header.entries.values())
        self.advance: Advance = progress(wish, f"loading {source.name}", total)

    def bases(self, data: set[Any]) -> Bases:
        """The bytes of each entry, in their order in the file; of those in `data` even when others
        go to meta.
        """
        ordered = sorted(self.header.entries.items(), key=lambda pair: pair[1].place)
        made = {name: self.base(name, entry, name in data) for name, entry in ordered}
        if self.damaged:
            raise FormatError(_damage(self.damaged, len(ordered)))
        return made

    def base(self, name: str, entry: Entry, data: bool) -> Tensor | None:
        location = self.locations.get(name, "cpu")
        if not data and self.place.is_meta(location):
            return None
        made = self.bytes(name, entry)
        self.advance(entry.nbytes)
        return made if data else self.place.moved(made, location)

    def bytes(self, name: str, entry: Entry) -> Tensor:
        if settings.skips_data.get():
            return taeda.zeros(entry.nbytes, dtype=taeda.uint8)
        told = self.sums.get(name, UNKNOWN)
        compute = None if told == UNKNOWN else _core.crc32c
        align = self.aligns.get(name, ITEM_BYTES[entry.dtype])
        made, sum = self.source.tensor(self.start + entry.begin, entry.nbytes, compute, align)
        if compute is not None and f"{sum:08x}" != told:
            self.damaged.append(name)
        return made


def _damage(names: list[str], count: int) -> str:
    shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
    return (
        f"{len(names)} of {count} tensors of this file are damaged, their checksums differ: {shown}. Take "
        "another copy of the file; load(..., verify=False) reads it as it is"
    )


# ---- the header ----


def _read_header(source: Source) -> tuple[Header, int]:
    """The checked header, and where the data begin."""
    length = header_length(source.read(0, min(source.size, LENGTH_BYTES)), source.size)
    start = LENGTH_BYTES + length
    try:
        check_long_header(source, length)
        text = source.read(LENGTH_BYTES, length)
        header = parse_header(text, source.size - start)
    except FormatError as error:
        if b"taeda." not in source.read(LENGTH_BYTES, min(length, _BEGINNING)):
            raise
        raise FormatError(f"the header is damaged: {error}") from None
    if not _is_own(header):
        return header, start
    _check_metadata(
        header.metadata, header_is_whole(text, header.metadata.get(KEYS.HEADER_SUM, ""))
    )
    return header, start


def _check_metadata(metadata: dict[str, str], whole: bool) -> None:
    version = metadata.get(KEYS.VERSION, VERSION)
    if version != VERSION:
        raise FormatError(
            f"{'' if whole else 'the header is damaged, or '}the file has version {version!r:.40} of this "
            f"format, and this is a reader of version {VERSION!r}: load it with a newer taeda"
        )
    if not whole:
        raise FormatError(
            "the header is damaged: its checksum differs; take another copy of the file"
        )
    if missing := set(REQUIRED) - metadata.keys():
        raise FormatError(f"the metadata lacks {', '.join(sorted(missing))}")


def _is_own(header: Header) -> bool:
    """Whether `save` wrote this; any of its words says so, for one of them may be damaged."""
    return any(key.startswith("taeda.") for key in header.metadata)


def _metadata_json(header: Header, key: str, kind: type) -> Any:
    value = load_json(header.metadata[key], key)
    if type(value) is not kind:
        raise FormatError(f"{key} must be a {kind.__name__}, got a {type(value).__name__}")
    return value


def _checksums(header: Header) -> dict[str, str]:
    """The checksum of each entry that has bytes."""
    sums = header.metadata[KEYS.SUMS].split()
    entries = sorted(header.entries.items(), key=lambda pair: pair[1].place)
    names = [name for name, entry in entries if entry.nbytes]
    if len(sums) != len(names) or any(len(sum) != 8 for sum in sums):
        raise FormatError(
            f"{KEYS.SUMS} must hold {len(names)} checksums of 8 digits, got {len(sums)}"
        )
    return dict(zip(names, sums, strict=True))


def _locations(header: Header) -> dict[str, str]:
    if KEYS.LOCATIONS not in header.metadata or not _is_own(header):
        return {}
    found = _metadata_json(header, KEYS.LOCATIONS, dict)
    if not all(isinstance(tag, str) for tag in found.values()):
        raise FormatError(f"{KEYS.LOCATIONS} must name a place for each entry")
    return found
