"""GGUF files whose counts, lengths, shapes and offsets are not true."""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["files", "gguf"]

U8, U32, F32, TEXT, ARRAY, U64 = 0, 4, 6, 8, 9, 10
HUGE = (2**31, 2**32, 2**61, 2**63, 2**64 - 1)


def text(value: bytes | str, length: int | None = None) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data) if length is None else length) + data


def entry(
    name: str = "w",
    dims: tuple[int, ...] = (3, 2),
    kind: int = 0,
    offset: int = 0,
    count: int | None = None,
) -> bytes:
    number = len(dims) if count is None else count
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", number, *dims, kind, offset)


def gguf(
    entries: tuple[bytes, ...] = (entry(),),
    facts: tuple[bytes, ...] = (),
    data: bytes = bytes(24),
    version: int = 3,
    **counts: int,
) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, counts.get("tensors", len(entries)), len(facts))
    head += b"".join(facts) + b"".join(entries)
    return head + bytes(-len(head) % 32) + data


def fact(kind: int, body: bytes, name: str = "x") -> bytes:
    return text(name) + struct.pack("<I", kind) + body


def files() -> Iterator[tuple[str, bytes]]:
    for version in (0, 1, 4, 2**32 - 1, 0x03000000):
        yield f"version {version}", gguf(version=version)
    for count in (2, 100, *HUGE):
        if count < 2**64:
            yield f"{count} tensors", gguf(tensors=count)
            yield f"{count} facts", gguf_counts(count)
            yield f"a name of {count}", gguf((text(b"w", count) + entry()[9:],))
            yield f"a text of {count}", gguf(facts=(fact(TEXT, text(b"a", count)),))
            yield (
                f"an array of {count} bytes",
                gguf(facts=(fact(ARRAY, struct.pack("<IQ", U8, count)),)),
            )
            yield (
                f"an array of {count} texts",
                gguf(facts=(fact(ARRAY, struct.pack("<IQ", TEXT, count)),)),
            )
            yield (
                f"an array of {count} arrays",
                gguf(facts=(fact(ARRAY, struct.pack("<IQ", ARRAY, count)),)),
            )
            yield f"a dimension of {count}", gguf((entry(dims=(count, 4)),))
            yield f"two dimensions of {count}", gguf((entry(dims=(count, count, 4)),))
            yield f"an offset of {count}", gguf((entry(offset=count),))
    for count in (1, 9, 2**32 - 1):
        yield f"{count} dimensions", gguf((entry(count=count),))
    yield "a product that wraps to 6", gguf((entry(dims=(2**62 + 6, 4)),))
    yield "a product that wraps to 0", gguf((entry(dims=(2**32, 2**32)),))
    for kind in (2, 3, 8, 12, 16, 23, 31, 99, 2**32 - 1):
        yield f"type {kind}", gguf((entry(kind=kind),))
    for kind in (13, 99, 2**32 - 1):
        yield f"a fact of kind {kind}", gguf(facts=(fact(kind, bytes(8)),))
    deep = struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 1000
    yield "arrays to depth 1000", gguf(facts=(text("x") + deep + bytes(100),))
    wide = struct.pack("<IQ", U8, 2**20) + bytes(2**20)
    yield (
        "a megabyte of small numbers, twice the memory",
        gguf(facts=tuple(fact(ARRAY, wide, str(i)) for i in range(4)), data=b""),
    )
    yield "one fact twice", gguf(facts=(fact(U32, bytes(4)), fact(U32, bytes(4))))
    yield "one tensor twice", gguf((entry(), entry()))
    yield "tensors over one another", gguf((entry(), entry("v")))
    yield (
        "tensors that overlap",
        gguf((entry(), entry("v", dims=(100,), offset=0)), data=bytes(400)),
    )
    yield "a crooked offset", gguf((entry(offset=4),), data=bytes(28))
    for value in (0, 3, 33, 2**31, 2**32 - 1):
        yield (
            f"alignment {value}",
            gguf(facts=(fact(U32, struct.pack("<I", value), "general.alignment"),)),
        )
    yield "alignment as text", gguf(facts=(fact(TEXT, text("32"), "general.alignment"),))
    yield "a name that is not UTF-8", gguf((text(b"\xff\xfe") + entry()[9:],))
    yield "a text that is not UTF-8", gguf(facts=(fact(TEXT, text(b"\xff\xfe")),))
    whole = gguf(facts=(fact(U32, bytes(4)),))
    for end in range(5, len(whole), 7):
        yield f"cut after {end}", whole[:end]


def gguf_counts(facts: int) -> bytes:
    return gguf(facts=(fact(U32, bytes(4)),)).replace(
        struct.pack("<QQ", 1, 1), struct.pack("<QQ", 1, facts)
    )
