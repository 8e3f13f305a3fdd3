"""The safetensors layout: eight bytes of length, a JSON header, then the bytes of the entries.

    {"__metadata__": {text: text}, name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}

Entries follow one another without hole or overlap, to the end of the file. Reading believes
nothing: every number is checked against the size of the file before anything is allocated.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pickle import UnpicklingError
from typing import Any, NoReturn

__all__ = [
    "ITEM_BYTES",
    "Entry",
    "FormatError",
    "Header",
    "entry_of",
    "pairs_once",
    "parse_header",
    "write_header",
]

LENGTH_BYTES = 8
HEADER_LIMIT = 100_000_000
MOST_DIMENSIONS = 64
ALIGNMENT = 64  # of the first entry, so that a mapped file can be computed with

#: bytes of one element, by the format's name of the dtype
ITEM_BYTES = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "F8_E8M0": 1,
    "F8_E4M3FNUZ": 1,
    "F8_E5M2FNUZ": 1,
    "I16": 2,
    "U16": 2,
    "F16": 2,
    "BF16": 2,
    "I32": 4,
    "U32": 4,
    "F32": 4,
    "I64": 8,
    "U64": 8,
    "F64": 8,
    "C64": 8,
}


class FormatError(RuntimeError, UnpicklingError):
    """A file that is no checkpoint of ours, or a damaged one; the message says what is wrong."""


@dataclass(slots=True)  # not frozen: making one would take three times as long
class Entry:
    """One piece of data: its dtype and shape, and where its bytes begin and end after the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def nbytes(self) -> int:
        return self.end - self.begin

    @property
    def place(self) -> tuple[int, int]:
        """Sorts entries as they lie in the file."""
        return self.begin, self.end


@dataclass(frozen=True)
class Header:
    """What a file says of itself."""

    entries: dict[str, Entry]
    metadata: dict[str, str] = field(default_factory=dict)


def write_header(header: Header) -> bytes:
    """The bytes before the first entry's. ValueError if there is more to say than readers accept."""
    parts = [_described(name, entry) for name, entry in header.entries.items()]
    if header.metadata:
        parts.insert(0, f'"__metadata__":{json.dumps(header.metadata, separators=(",", ":"))}')
    text = f"{{{','.join(parts)}}}".encode()
    text += b" " * (-(LENGTH_BYTES + len(text)) % ALIGNMENT)
    if len(text) > HEADER_LIMIT:
        raise ValueError(
            f"the description of this object takes {len(text)} bytes, and {HEADER_LIMIT} are the "
            "most that readers accept: keep large data in tensors, not in lists of numbers"
        )
    return len(text).to_bytes(LENGTH_BYTES, "little") + text


def _described(name: str, entry: Entry) -> str:
    # As text at once: thousands of small dicts would keep the garbage collector busy.
    return (
        f'{json_text(name)}:{{"dtype":"{entry.dtype}","shape":{json_counts(entry.shape)},'
        f'"data_offsets":[{entry.begin},{entry.end}]}}'
    )


#: a text in JSON, quotes and all
json_text: Callable[[str], str] = json.encoder.encode_basestring_ascii


def json_counts(counts: Iterable[int]) -> str:
    """A list of numbers in JSON."""
    return f"[{','.join(map(str, counts))}]"


# ---- reading ----


def header_length(first: bytes, file_bytes: int) -> int:
    """The length of the JSON text, from the first eight bytes of a file of `file_bytes` bytes."""
    _refuse_other_formats(first)
    if len(first) < LENGTH_BYTES:
        raise FormatError(f"the file is truncated: {len(first)} bytes, a header takes more")
    length = int.from_bytes(first[:LENGTH_BYTES], "little")
    if length > HEADER_LIMIT:
        raise FormatError(
            f"this is no safetensors file, or a damaged one: it claims a header of {length} bytes"
        )
    if length > file_bytes - LENGTH_BYTES:
        raise FormatError(
            f"the file is truncated: a header of {length} bytes is announced, and only "
            f"{file_bytes - LENGTH_BYTES} bytes follow"
        )
    return length


def _refuse_other_formats(first: bytes) -> None:
    if first.startswith(b"PK\x03\x04"):
        raise FormatError("this is a zip archive, not a safetensors file")
    if first[:1] == b"\x80" and first[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise FormatError(
            "this is a pickle, not a safetensors file: pickles run code when they are loaded"
        )


def parse_header(text: bytes, data_bytes: int) -> Header:
    """Check a JSON header against the number of bytes that follow it."""
    if text[:1] != b"{":
        raise FormatError(f"the header must begin with '{{', not with {text[:1]!r}")
    document = load_json(text, "the header")
    metadata = document.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise FormatError("__metadata__ must hold texts under names")
    entries = {name: entry_of(name, fields) for name, fields in document.items()}
    _check_layout(entries, data_bytes)
    return Header(entries, metadata)


def load_json(text: bytes | str, what: str, deep: bool = False) -> Any:
    """Strict JSON: no key twice, no NaN, nothing nested deeper than Python allows (with `deep` a
    RecursionError says so).
    """
    try:
        return _STRICT.decode(
            text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
        )
    except FormatError:
        raise
    except (ValueError, RecursionError) as error:
        if deep and isinstance(error, RecursionError):
            raise
        raise FormatError(f"{what} is no valid JSON: {error}") from None


def pairs_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict of pairs; FormatError for a key that stands twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise FormatError(f"the key {twice!r:.200} stands twice in one object")
    return made


def _no_constant(name: str) -> NoReturn:
    raise FormatError(f"{name} is no JSON number")


# One for all: to make a decoder takes longer than to read a short text.
_STRICT = json.JSONDecoder(object_pairs_hook=pairs_once, parse_constant=_no_constant)


def is_count(value: Any) -> bool:
    """Whether this is an int of at least 0 (and no bool)."""
    return type(value) is int and value >= 0


def are_counts(values: list[Any]) -> bool:
    """Whether these are ints of at least 0 (and no bools)."""
    return set(map(type, values)) <= {int} and (not values or min(values) >= 0)


def entry_of(name: str, fields: Any) -> Entry:
    """An entry, its numbers checked against each other."""
    if not isinstance(fields, dict) or set(fields) != {"dtype", "shape", "data_offsets"}:
        raise FormatError(f"entry {name!r:.200} must have dtype, shape and data_offsets")
    dtype, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        raise FormatError(f"entry {name!r:.200} has an unknown dtype: {dtype!r}")
    if not isinstance(shape, list) or not are_counts(shape):
        raise FormatError(f"entry {name!r:.200}: a shape is a list of sizes, got {shape!r:.80}")
    if len(shape) > MOST_DIMENSIONS:
        raise FormatError(
            f"entry {name!r:.200} has {len(shape)} dimensions, at most {MOST_DIMENSIONS}"
        )
    if not isinstance(offsets, list) or len(offsets) != 2 or not are_counts(offsets):
        raise FormatError(f"entry {name!r:.200}: data_offsets are two positions, got {offsets!r}")
    begin, end = offsets
    wanted = math.prod(shape) * ITEM_BYTES[dtype]
    if end - begin != wanted:
        raise FormatError(
            f"entry {name!r:.200}: {dtype} of shape {shape} takes {wanted} bytes, but its offsets "
            f"{offsets} span {end - begin}"
        )
    return Entry(dtype, tuple(shape), begin, end)


def _check_layout(entries: dict[str, Entry], data_bytes: int) -> None:
    position = 0
    for name, entry in sorted(entries.items(), key=lambda pair: pair[1].place):
        if entry.begin != position:
            kind = "overlaps the one before it" if entry.begin < position else "leaves a hole"
            raise FormatError(
                f"entry {name!r:.200} {kind}: begins at {entry.begin}, not at {position}"
            )
        position = entry.end
    if position > data_bytes:
        raise FormatError(
            f"the file is truncated: entries reach to byte {position} of the data, and there are "
            f"{data_bytes}"
        )
    if position < data_bytes:
        raise FormatError(
            f"{data_bytes - position} bytes follow the last entry, which nothing describes: a file or stream "
            "holds one saved object, and something was written behind this one"
        )
