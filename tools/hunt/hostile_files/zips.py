"""Zip archives that mean different things to different readers, or more than they hold."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from .words import Entry, archive, pickled, pt, storage, tensor, tup

__all__ = ["files", "good"]

OBJECT = pickled(tensor())
NUMBERS = struct.pack("<6f", *range(6))
NAMES = (
    "../archive/data/1",
    "/etc/passwd",
    "archive/../../x",
    "archive//data/1",
    "archive/./data/1",
    "archive/data/",
    "archive\\data\\1",
    "C:/windows/x",
    "archive/data/1\x00.txt",
    "archive/data/\n",
    "",
    ".",
    "..",
    "other/data/1",
    "data/1",
    "a" * 2000,
    b"archive/\xff\xfe",
    "archive/\u202edata",
)


def good(**changes: Entry) -> list[Entry]:
    """The records of a file that would be read, with some of them changed."""
    entries = {
        "pickle": Entry("archive/data.pkl", OBJECT),
        "order": Entry("archive/byteorder", b"little"),
    }
    entries |= {
        "version": Entry("archive/version", b"3\n"),
        "data": Entry("archive/data/0", NUMBERS),
    }
    return list((entries | changes).values())


def files() -> Iterator[tuple[str, bytes]]:
    yield from doubles()
    yield from names()
    yield from contradictions()
    yield from ends()
    yield from sizes()
    yield from bombs()
    yield from contents()


def doubles() -> Iterator[tuple[str, bytes]]:
    for name, data in (
        ("data.pkl", OBJECT),
        ("data/0", bytes(24)),
        ("byteorder", b"big"),
        ("x", b"y"),
    ):
        one = Entry(f"archive/{name}", data)
        yield f"{name} twice", archive([*good(), one, one])
        yield f"{name} in two folders", archive([*good(), Entry(f"evil/{name}", data)])
        yield f"{name} in no folder", archive([*good(), Entry(name, data)])
    yield (
        "two names in the directory for one record",
        archive([*good(), Entry("archive/z", b"")], at=0),
    )
    whole = archive(good())
    yield "one archive behind another", whole + whole
    yield "one archive in another's comment", archive(good(), comment=archive(good())[:65000])
    yield "bytes in front", archive(good(), front=b"MZ" + bytes(100))
    yield "bytes in front that move all offsets", b"PK\3\4" + bytes(26) + whole
    yield "bytes behind", archive(good(), behind=b"x")
    yield "a line behind", archive(good(), behind=b"\n")
    yield "a comment", archive(good(), comment=b"hello")
    yield (
        "a hole between records",
        archive(good(order=Entry("archive/byteorder", b"little", tail=bytes(9)))),
    )
    yield (
        "records over one another",
        archive(good(data=Entry("archive/data/0", NUMBERS, central={"at": 0}))),
    )
    yield (
        "a record in the directory",
        archive(good(data=Entry("archive/data/0", NUMBERS, central={"at": 10**6}))),
    )
    yield (
        "a record before the file",
        archive(good(data=Entry("archive/data/0", NUMBERS, central={"at": 2**32 - 2}))),
    )
    yield "a safetensors header in front", (2).to_bytes(8, "little") + b"{}" + whole


def names() -> Iterator[tuple[str, bytes]]:
    for name in NAMES:
        yield f"a record named {name!r:.60}", archive([*good(), Entry(name, b"x")])
        yield f"an object named {name!r:.60}", archive(good(pickle=Entry(name, OBJECT)))
    for mode in (0o120777, 0o060777, 0o020777, 0o040755):
        lie = {"attributes": mode << 16}
        yield (
            f"a record of mode {mode:o}",
            archive(good(data=Entry("archive/data/0", NUMBERS, central=lie))),
        )


def contradictions() -> Iterator[tuple[str, bytes]]:
    lies = {
        "name": b"archive/data/9",
        "flags": 1,
        "method": 8,
        "crc": 5,
        "size": 20,
        "nbytes": 20,
        "extra": b"\1\0\4\0aaaa",
        "disk": 3,
    }
    for where in ("local", "central"):
        for key, value in lies.items():
            if (where, key) != ("local", "disk"):
                entry = Entry("archive/data/0", NUMBERS, **{where: {key: value}})
                yield f"{where} header lies of {key}", archive(good(data=entry))
    for key, value in lies.items():
        if key not in ("name", "disk", "extra"):
            entry = Entry("archive/data/0", NUMBERS, {key: value}, {key: value})
            yield f"damaged: both headers lie of {key}", archive(good(data=entry))
    for flags in (1, 2, 4, 0x10, 0x20, 0x40, 0x1000, 0x2000, 0x8000):
        both = {"flags": flags}
        yield f"flags {flags:#x}", archive(good(data=Entry("archive/data/0", NUMBERS, both, both)))
    for method in (1, 6, 9, 12, 14, 93, 99, 65535):
        both = {"method": method}
        yield f"method {method}", archive(good(data=Entry("archive/data/0", NUMBERS, both, both)))
    for kind in (0x7075, 0x9901, 0x6375, 0x0017, 0xFFFF):
        both = {"extra": struct.pack("<2H", kind, 4) + b"abcd"}
        yield (
            f"extra field {kind:#06x}",
            archive(good(data=Entry("archive/data/0", NUMBERS, both, both))),
        )
    for extra in (b"\1", b"FB", b"FB\xff\xff", b"FB\0\0FB\0\0", b"\1\0\0"):
        both = {"extra": extra}
        yield f"extra {extra!r}", archive(good(data=Entry("archive/data/0", NUMBERS, both, both)))
    late = {"flags": 8, "crc": 0, "size": 0, "nbytes": 0}
    for tail in (
        b"",
        b"PK\7\10",
        b"PK\7\10" + bytes(12),
        struct.pack("<4s3I", b"PK\7\10", zlib.crc32(NUMBERS), 24, 25),
    ):
        entry = Entry("archive/data/0", NUMBERS, late, {"flags": 8}, tail=tail)
        yield f"sizes afterwards: {tail!r}", archive(good(data=entry))
    for bit in range(0, 24 * 8, 29):
        wrong = bytearray(NUMBERS)
        wrong[bit // 8] ^= 1 << bit % 8
        told = {"crc": zlib.crc32(NUMBERS)}
        yield (
            f"damaged: bit {bit} of a storage",
            archive(good(data=Entry("archive/data/0", bytes(wrong), told, told))),
        )


def ends() -> Iterator[tuple[str, bytes]]:
    for key, values in {
        "disk": (1,),
        "disk2": (1,),
        "here": (0, 3, 5),
        "count": (0, 3, 5, 65535),
        "size": (0, 1, 10**6, 2**32 - 1),
        "at": (0, 1, 10**6, 2**32 - 1),
        "directory": (b"", b"PK\1\2", bytes(46), bytes(1000)),
    }.items():
        for value in values:
            yield f"end: {key} is {value!r:.20}", archive(good(), **{key: value})
    for count in (10**6, 2**32, 2**63):
        wide = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, 200, 100)
        wide += struct.pack("<4sIQI", b"PK\6\7", 0, len(archive(good())) - 22, 1)
        yield f"zip64: {count} records", archive(good(), zip64=wide, count=65535, here=65535)
    for place in (0, 10, 2**63):
        yield (
            f"zip64 locator at {place}",
            archive(good(), zip64=struct.pack("<4sIQI", b"PK\6\7", 0, place, 1)),
        )
    whole = archive(good())
    for end in (4, 10, 22, 30, 100, len(whole) - 22, len(whole) - 1):
        yield f"cut after {end}", whole[:end]


def sizes() -> Iterator[tuple[str, bytes]]:
    for size in (0, 23, 25, 2**31, 2**32 - 2):
        both = {"size": size, "nbytes": size}
        yield (
            f"a record said to be {size}",
            archive(good(data=Entry("archive/data/0", NUMBERS, both, both))),
        )
    for size in (0, 25, 2**40, 2**63, 2**64 - 1):
        extra = struct.pack("<2H2Q", 1, 16, size, size)
        both = {"size": 2**32 - 1, "nbytes": 2**32 - 1, "extra": extra}
        yield (
            f"a record said to be {size} in zip64",
            archive(good(data=Entry("archive/data/0", NUMBERS, both, both))),
        )
    useless = {"extra": struct.pack("<2H2Q", 1, 16, 24, 24)}
    yield (
        "zip64 sizes in the directory without need",
        archive(good(data=Entry("archive/data/0", NUMBERS, {}, useless))),
    )


def deflated(data: bytes) -> bytes:
    machine = zlib.compressobj(9, zlib.DEFLATED, -15)
    return machine.compress(data) + machine.flush()


def bombs() -> Iterator[tuple[str, bytes]]:
    zeros = bytes(64 << 20)
    packed = deflated(zeros)
    pickle = pickled(tensor(storage(count=len(zeros) // 4), 0, (len(zeros) // 4,), (1,)))
    yield (
        "a storage of zeros, compressed",
        archive(
            good(
                pickle=Entry("archive/data.pkl", pickle),
                data=Entry("archive/data/0", zeros, stored=packed),
            )
        ),
    )
    yield (
        "a compressed object",
        archive(good(pickle=Entry("archive/data.pkl", OBJECT, stored=deflated(OBJECT)))),
    )
    nested = b"\x80\x02" + b"]" * (8 << 20) + b"."
    yield (
        "a compressed object of lists",
        archive(good(pickle=Entry("archive/data.pkl", nested, stored=deflated(nested)))),
    )
    yield (
        "100,001 records",
        archive(
            [*good(), *(Entry(f"archive/data/{i}", b"") for i in range(1, 100_001))],
            count=65535,
            here=65535,
        ),
    )
    directory = b"PK\1\2" + bytes(42)
    yield (
        "65,000 empty directory entries",
        archive(
            good(),
            directory=directory * 65_000,
            count=65_000,
            here=65_000,
            size=len(directory) * 65_000,
        ),
    )
    many = [Entry(f"archive/data/{i}", b"", central={"at": 0}) for i in range(5000)]
    yield "5000 records in one place", archive([*good(), *many])
    long = [Entry("archive/" + "x" * 60_000 + str(i), b"") for i in range(50)]
    yield "names of three megabytes", archive([*good(), *long])


def contents() -> Iterator[tuple[str, bytes]]:
    for order in (b"", b"middle", b"LITTLE", b"little\n", b"little" * 10**5):
        yield f"byteorder {order!r:.20}", archive(good(order=Entry("archive/byteorder", order)))
    empty = pickled(tensor(storage("torch UntypedStorage", count=24)))
    yield "no data.pkl", archive(good()[1:])
    yield "no storage", archive(good()[:3])
    yield "nothing", archive([])
    yield "an empty record", archive([Entry("archive/data.pkl", b"")])
    yield (
        "TorchScript",
        archive([*good(), Entry("archive/constants.pkl", OBJECT), Entry("archive/code/x.py", b"")]),
    )
    yield (
        "code beside the object",
        archive([*good(), Entry("archive/code/__torch__.py", b"import os")]),
    )
    yield "a package", archive([Entry("package/.data/version", b"6"), Entry("package/x.py", b"")])
    yield (
        "a document",
        archive([Entry("[Content_Types].xml", b""), Entry("word/document.xml", b"")]),
    )
    yield (
        "a wheel",
        archive([Entry("torch/__init__.py", b""), Entry("torch-1.dist-info/RECORD", b"")]),
    )
    yield "untyped in v2", archive(good(pickle=Entry("archive/data.pkl", empty)))
    big = pickled(tup(tensor(), tensor(storage("torch.storage UntypedStorage", count=24))))
    yield (
        "other order, no dtype",
        archive(
            good(pickle=Entry("archive/data.pkl", big), order=Entry("archive/byteorder", b"big"))
        ),
    )
    yield "storage too long", pt(tensor(), {"data/0": bytes(28)})
    yield "storage too short", pt(tensor(), {"data/0": bytes(20)})
    yield "storage empty", pt(tensor(), {"data/0": b""})
