"""torch's form before 0.2, and tar archives in general."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from .words import glob, pickled, tup

__all__ = ["files", "old_tar"]

NUMBERS = struct.pack("<6f", *range(6))


def member(
    name: str, data: bytes, kind: bytes = b"0", size: bytes | None = None, sum_is: int | None = None
) -> bytes:
    size = f"{len(data):011o}\0".encode() if size is None else size
    head = (
        name.encode().ljust(100, b"\0")
        + b"0000644\0"
        + b"0000000\0" * 2
        + size.ljust(12, b"\0")
        + b"00000000000\0"
    )
    rest = kind + bytes(100) + b"ustar\x0000" + bytes(247)
    total = sum(head) + sum(rest) + 8 * 32 if sum_is is None else sum_is
    return head + f"{total:06o}\0 ".encode() + rest + data + bytes(-len(data) % 512)


def storages(
    key: Any = 1,
    place: Any = "cpu",
    kind: bytes | None = None,
    count: int = 6,
    many: Any = 1,
    parts: Any = None,
) -> bytes:
    told = pickled(tup(key, place, glob("torch FloatStorage") if kind is None else kind))
    parts = [] if parts is None else parts
    return pickled(many) + told + struct.pack("<q", count) + NUMBERS + pickled(parts)


def tensors(
    key: Any = 2,
    store: Any = 1,
    dims: int = 2,
    numbers: tuple[int, ...] = (2, 3, 3, 1, 0),
    many: Any = 1,
) -> bytes:
    told = pickled(tup(key, store, glob("torch FloatTensor")))
    return (
        pickled(many)
        + told
        + struct.pack("<ii", dims, 0)
        + struct.pack(f"<{len(numbers)}q", *numbers)
    )


def old_tar(**parts: bytes) -> bytes:
    """A tar that would be read, with parts replaced; an empty one is left out."""
    every = {
        "sys_info": pickled({}),
        "pickle": pickled("2").replace(b".", b"Q."),
        "tensors": tensors(),
        "storages": storages(),
    }
    return b"".join(member(name, data) for name, data in (every | parts).items() if data) + bytes(
        1024
    )


def whole_part(name: str) -> bytes:
    return {"pickle": pickled(list(range(9))), "tensors": tensors(), "storages": storages()}[name]


def files() -> Iterator[tuple[str, bytes]]:
    whole = old_tar()
    for part in ("pickle", "tensors", "storages"):
        yield f"no {part}", old_tar(**{part: b""})
        for size in (0, 5, 20):
            yield f"{part} cut after {size}", old_tar(**{part: whole_part(part)[:size] or b"x"})
    for kind in (b"1", b"2", b"3", b"4", b"6", b"7", b"L", b"K", b"S", b"Z"):
        yield f"a member of kind {kind!r}", member("sys_info", b"x", kind) + whole
    for name in ("/etc/passwd", "../x", "a/b", "a\\b", "a b", "sys_info\n"):
        yield f"a member named {name!r}", member("sys_info", b"") + member(name, b"") + whole
    for size in (
        b"77777777777",
        b"99999999999",
        b"-0000000001",
        b"\x80" + b"\xff" * 11,
        b"",
        b"0x10",
    ):
        yield f"a size of {size!r:.30}", member("sys_info", b"", size=size) + whole
    yield "a wrong checksum", member("sys_info", b"", sum_is=1) + whole
    yield "one name twice", member("pickle", pickled(None)) + whole
    yield "2000 members", b"".join(member(f"m{i}", b"") for i in range(2000)) + whole
    for count in (5, 7, -1, 0, 2**31, 2**61, 2**63 - 1):
        yield f"a storage of {count}", old_tar(storages=storages(count=count))
    for many in (0, 2, -1, 10**9, None, "1"):
        yield f"{many!r} storages", old_tar(storages=storages(many=many))
        yield f"{many!r} tensors", old_tar(tensors=tensors(many=many))
    for key in (None, "a", (1,), 1.5):
        yield f"storage key {key!r}", old_tar(storages=storages(key))
        yield f"tensor key {key!r}", old_tar(tensors=tensors(key))
        yield f"tensor on storage {key!r}", old_tar(tensors=tensors(store=key))
        yield f"object {key!r}", old_tar(pickle=pickled(key).replace(b".", b"Q."))
    for place in (None, 5, ("cpu",)):
        yield f"location {place!r}", old_tar(storages=storages(place=place))
    for kind in (
        "torch Size",
        "torch float32",
        "torch QInt8Storage",
        "torch UntypedStorage",
        "os system",
    ):
        yield f"storage of {kind}", old_tar(storages=storages(kind=glob(kind)))
    for parts in (
        5,
        [5],
        [(3, 1, 0)],
        [(3, 1, 0, 7)],
        [(3, 1, -1, 2)],
        [(3, 9, 0, 2)],
        [(3, 1, 2**62, 2)],
        [("3", 1, 0, 2)],
        {1: 2},
    ):
        yield f"parts {parts!r}", old_tar(storages=storages(parts=parts))
    for dims in (-1, 65, 2**31 - 1):
        yield f"{dims} dimensions", old_tar(tensors=tensors(dims=dims))
    for numbers in (
        (2, 4, 3, 1, 0),
        (-2, 3, 3, 1, 0),
        (2, 3, -3, 1, 0),
        (2, 3, 3, 1, 1),
        (2, 3, 3, 1, -1),
        (2**62, 2**62, 0, 1, 0),
        (2, 3, 2**62, 2**62, 0),
    ):
        yield f"geometry {numbers}", old_tar(tensors=tensors(numbers=numbers))
    for end in (100, 511, 600, 1500, len(whole) - 1024, len(whole) - 1100):
        yield f"cut after {end}", whole[:end]
