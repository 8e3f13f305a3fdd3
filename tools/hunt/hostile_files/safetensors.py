"""safetensors files whose header lies, plain ones and our own with checksums and a tree."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator
from typing import Any

__all__ = ["files", "own"]

W = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


def plain(header: Any, data: bytes = bytes(24), length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def own() -> bytes:
    """A file of ours that is right."""
    import taeda

    file = io.BytesIO()
    value = {
        "w": taeda.arange(6.0).reshape(2, 3),
        "list": [1, 2.5, ("a", None)],
        "n": {3: taeda.ones(2)},
    }
    taeda.save(value, file)
    return file.getvalue()


def files() -> Iterator[tuple[str, bytes]]:
    yield from long_headers()
    good = json.dumps({"w": W}).encode()
    for length in (0, 1, 10, len(good) - 1, len(good) + 1, 10**6, 2**31, 2**63, 2**64 - 1):
        yield f"a header said to be {length}", plain(good, length=length)
    changes: dict[str, dict[str, Any]] = {
        "unknown dtype": {"dtype": "F99"},
        "dtype as number": {"dtype": 5},
        "negative shape": {"shape": [-2, -3]},
        "overflow": {"shape": [2**32, 2**32, 6]},
        "float shape": {"shape": [2.0, 3]},
        "bool shape": {"shape": [True, 6]},
        "shape as text": {"shape": "23"},
        "no shape": {"shape": None},
        "nested shape": {"shape": [[2, 3]]},
        "wrong shape": {"shape": [2, 4]},
        "10^5 dimensions": {"shape": [1] * 100_000 + [6]},
        "backwards": {"data_offsets": [24, 0]},
        "outside": {"data_offsets": [8, 32]},
        "negative offsets": {"data_offsets": [-24, 0]},
        "float offsets": {"data_offsets": [0.0, 24.0]},
        "three offsets": {"data_offsets": [0, 24, 24]},
        "huge offsets": {"data_offsets": [2**64, 2**64 + 24]},
        "another key": {"extra": 1},
    }
    for name, change in changes.items():
        yield name, plain({"w": W | change})
    yield "not a dict", plain(b"[]" + b" " * 20)
    for text in (
        b"",
        b"{",
        b"{}{}",
        b'{"w": NaN}',
        b'{"w": Infinity}',
        b"\xff" * 30,
        b'{"w":' * 50_000,
        b'{"a":' + b"[" * 100_000,
        b'{"w": 1e999}',
    ):
        yield f"header {text!r:.30}", plain(text)
    twice = good[:-1] + b"," + good[1:]
    yield "one name twice", plain(twice)
    yield "metadata twice", plain(b'{"__metadata__":{},"__metadata__":{},' + good[1:])
    yield "metadata of numbers", plain({"__metadata__": {"a": 1}, "w": W})
    yield "metadata as list", plain({"__metadata__": [], "w": W})
    yield "overlap", plain({"w": W, "v": W})
    yield "hole", plain({"w": W, "v": W | {"data_offsets": [30, 54]}}, bytes(54))
    yield "bytes behind", plain({"w": W}, bytes(25))
    yield "too few bytes", plain({"w": W}, bytes(23))
    yield "a polyglot of a zip", plain({"w": W}, bytes(24) + b"PK\5\6" + bytes(18))
    many = {f"w{i}": W for i in range(100_000)}
    yield "100,000 tensors in one place", plain(many)
    yield from ours()


def long_headers() -> Iterator[tuple[str, bytes]]:
    """Headers of about 10 MB, that as objects would take ten times as much, and are wrong at their end."""
    size = 10_000_000
    for opening in (b"[", b'{"a":', b'[[],{"a":'):
        yield f"10 MB of nested {opening!r}", plain(b'{"w":' + opening * (size // len(opening)))
    yield "10 MB of empty lists", plain(b'{"w":[' + b"[]," * (size // 3) + b"[]]}")
    yield "10 MB of numbers", plain(b'{"w":[' + b"7," * (size // 2) + b"7]}")
    tiny = b"{" + b",".join(b'"%x":{}' % i for i in range(1_000_000)) + b"}"
    yield "a million tiny keys", plain(tiny)
    yield "a million metadata", plain(b'{"__metadata__":' + tiny.replace(b"{}", b'""') + b"]")
    for text in (
        b"a" * size,
        b"\\u20ac" * (size // 6),
        "€".encode() * (size // 3),
        b"\\n" * (size // 2),
    ):
        yield f"a name of 10 MB of {text[:6]!r}", plain(b'{"' + text + b'":{}}')
        yield (
            f"metadata of 10 MB of {text[:6]!r}",
            plain(b'{"__metadata__":{"a":"' + text + b'"},"w":5}'),
        )
    none = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    one = json.dumps(none, separators=(",", ":")).encode()
    entries = [b'"%x":%b' % (i, one) for i in range(180_000)]
    yield (
        "180,000 entries, the first once more",
        plain(b"{" + b",".join([*entries, entries[0]]) + b"}", b""),
    )
    yield "180,000 entries, and a byte behind", plain(b"{" + b",".join(entries) + b"}", b"x")
    far = one.replace(b"[0,0]", b"[9,9]")
    yield (
        "180,000 entries, one outside",
        plain(b"{" + b",".join([*entries, b'"far":' + far]) + b"}", b""),
    )
    yield "180,000 entries and no end", plain(b"{" + b",".join(entries), b"")
    dims = b"[" + b"1," * (size // 2) + b"1]"
    yield (
        "a shape of 10 MB",
        plain(b'{"w":{"dtype":"U8","shape":' + dims + b',"data_offsets":[0,1]}}', b"x"),
    )


def ours() -> Iterator[tuple[str, bytes]]:
    whole = own()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    told = header["__metadata__"]
    for key in told:
        if key.startswith("taeda"):
            for value in ("", "null", "[]", "{}", "5", '"x"', "[[1]]", "0" * 8, "[" * 50_000):
                if value != told[key]:
                    changed = header | {"__metadata__": told | {key: value}}
                    yield f"{key} is {value!r:.12}", plain(changed, whole[8 + size :])
            rest = {k: v for k, v in told.items() if k != key}
            yield f"no {key}", plain(header | {"__metadata__": rest}, whole[8 + size :])
    for bit in range(0, len(whole) * 8, len(whole) * 8 // 60 | 1):
        wrong = bytearray(whole)
        wrong[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit}", bytes(wrong)
