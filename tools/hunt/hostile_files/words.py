"""Pickles and zips, put together by hand: words of protocol 2, and archives whose headers may lie."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "Entry",
    "archive",
    "call",
    "glob",
    "pickled",
    "pt",
    "storage",
    "tensor",
    "text",
    "tup",
    "word",
]


def text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


def glob(name: str) -> bytes:
    """GLOBAL for "module name"."""
    return b"c" + name.replace(" ", "\n").encode() + b"\n"


def tup(*items: Any) -> bytes:
    return b"(" + b"".join(map(word, items)) + b"t"


def word(value: Any) -> bytes:
    """A value as the words that push it; bytes are words already."""
    if isinstance(value, bytes):
        return value
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, int):
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        return b"\x8a" + bytes([len(data)]) + data
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, tuple):
        return tup(*value)
    if isinstance(value, list):
        return b"](" + b"".join(map(word, value)) + b"e"
    return b"}(" + b"".join(word(k) + word(v) for k, v in value.items()) + b"u"


def call(name: str, *arguments: Any) -> bytes:
    return glob(name) + tup(*arguments) + b"R"


def pickled(body: Any) -> bytes:
    return b"\x80\x02" + word(body) + b"."


def storage(
    kind: str = "torch FloatStorage", key: Any = "0", place: Any = "cpu", count: Any = 6
) -> bytes:
    return tup("storage", glob(kind), key, place, count) + b"Q"


def tensor(
    store: Any = None,
    offset: Any = 0,
    size: Any = (2, 3),
    stride: Any = (3, 1),
    grad: Any = False,
    *rest: Any,
) -> bytes:
    hooks = call("collections OrderedDict")
    store = storage() if store is None else store
    return call("torch._utils _rebuild_tensor_v2", store, offset, size, stride, grad, hooks, *rest)


@dataclass
class Entry:
    """A record of an archive, and what its two headers say of it where that is not the truth."""

    name: bytes | str
    data: bytes
    local: dict[str, Any] = field(default_factory=dict)
    central: dict[str, Any] = field(default_factory=dict)
    stored: bytes | None = None  # what lies in the file, if not `data`
    tail: bytes = b""  # what lies behind it

    def facts(self, lies: dict[str, Any]) -> dict[str, Any]:
        stored = self.data if self.stored is None else self.stored
        name = self.name.encode() if isinstance(self.name, str) else self.name
        told = {
            "name": name,
            "flags": 0,
            "method": 0 if self.stored is None else 8,
            "extra": b"",
            "attributes": 0,
        }
        told |= {
            "crc": zlib.crc32(self.data),
            "size": len(stored),
            "nbytes": len(self.data),
            "disk": 0,
        }
        return told | lies


def _local(f: dict[str, Any]) -> bytes:
    """The header in front of an entry's bytes."""
    words = (20, f["flags"], f["method"], 0, 0, f["crc"], f["size"], f["nbytes"])
    lengths = (len(f["name"]), len(f["extra"]))
    return struct.pack("<4s5H3I2H", b"PK\3\4", *words, *lengths) + f["name"] + f["extra"]


def _central(f: dict[str, Any], begin: int) -> bytes:
    """The entry's line in the directory."""
    comment = f.get("comment", b"")
    words = (20, 20, f["flags"], f["method"], 0, 0, f["crc"], f["size"], f["nbytes"])
    lengths = (len(f["name"]), len(f["extra"]), len(comment))
    place = (f["disk"], 0, f["attributes"], f.get("at", begin))
    packed = struct.pack("<4s6H3I5H2I", b"PK\1\2", *words, *lengths, *place)
    return packed + f["name"] + f["extra"] + comment


def archive(
    entries: Iterable[Entry], *, front: bytes = b"", behind: bytes = b"", **end: Any
) -> bytes:
    """A zip. `end` holds what its last header says where that is not the truth."""
    out, directory, count = bytearray(front), b"", 0
    for entry in entries:
        begin, count = len(out), count + 1
        out += _local(entry.facts(entry.local))
        out += (entry.data if entry.stored is None else entry.stored) + entry.tail
        directory += _central(entry.facts(entry.central), begin)
    truth = {"disk": 0, "disk2": 0, "here": count, "count": count, "size": len(directory),
        "at": len(out), "comment": b""}  # fmt: skip
    told = truth | end
    out += end.get("directory", directory) + told.get("zip64", b"")
    numbers = (told[name] for name in ("disk", "disk2", "here", "count", "size", "at"))
    out += struct.pack("<4s4H2IH", b"PK\5\6", *numbers, len(told["comment"]))
    return bytes(out + told["comment"] + behind)


def pt(body: Any, records: dict[str, bytes] | None = None, raw: bool = False) -> bytes:
    """torch's zip with this object, and storage 0 of six floats unless others are given."""
    records = {"data/0": struct.pack("<6f", *range(6))} if records is None else records
    data = body if raw or (isinstance(body, bytes) and body[:1] == b"\x80") else pickled(body)
    every = {"data.pkl": data, "byteorder": b"little", "version": b"3\n", **records}
    return archive(Entry(f"archive/{name}", content) for name, content in every.items())
