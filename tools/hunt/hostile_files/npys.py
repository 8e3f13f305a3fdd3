"""numpy's files whose headers ask for code, objects or memory."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from .gadget_pickle import BOMB
from .words import Entry, archive
from .zips import deflated

__all__ = ["files"]

DATA = struct.pack("<6f", *range(6))
HEADERS = {
    "a call": "__import__('os').system('echo hostile')",
    "a call in a dict": "{'descr': __import__('os').system('x'), 'fortran_order': False, 'shape': (6,), }",
    "objects": "{'descr': '|O', 'fortran_order': False, 'shape': (6,), }",
    "records": "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }",
    "texts": "{'descr': '<U1', 'fortran_order': False, 'shape': (6,), }",
    "void": "{'descr': '|V4', 'fortran_order': False, 'shape': (6,), }",
    "dates": "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (3,), }",
    "long floats": "{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }",
    "negative": "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,), }",
    "two negatives": "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3), }",
    "overflow": "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 6), }",
    "wraps to 24 bytes": "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387910,), }",
    "beyond 64 bits": "{'descr': '<f4', 'fortran_order': False, 'shape': (36893488147419103232, 0), }",
    "too many": "{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }",
    "too few": "{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }",
    "65 dimensions": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1, " * 64 + "6), }",
    "digits": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1" * 5000,
    "digits and commas": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1, " * 3000,
    "no comma": "{'descr': '<f4', 'fortran_order': False, 'shape': (6), 'x': 1}",
    "a list": "{'descr': '<f4', 'fortran_order': False, 'shape': [6], }",
    "a float": "{'descr': '<f4', 'fortran_order': False, 'shape': (6.0,), }",
    "a product": "{'descr': '<f4', 'fortran_order': False, 'shape': (2*3,), }",
    "hexadecimal": "{'descr': '<f4', 'fortran_order': False, 'shape': (0x6,), }",
    "an extra key": "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'a': 1, }",
    "a missing key": "{'descr': '<f4', 'shape': (6,), }",
    "one key twice": "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,), }",
    "order as a number": "{'descr': '<f4', 'fortran_order': 1, 'shape': (6,), }",
    "nothing": "",
    "brackets": "(" * 5000,
    "nul": "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\0",
}
GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }"


def npy(
    header: str, data: bytes = DATA, version: bytes = b"\1\0", length: int | None = None
) -> bytes:
    text = header.encode() + b"\n"
    size = len(text) if length is None else length
    return (
        b"\x93NUMPY" + version + size.to_bytes(2 if version[0] == 1 else 4, "little") + text + data
    )


def files() -> Iterator[tuple[str, bytes]]:
    for name, header in HEADERS.items():
        yield name, npy(header)
        yield f"{name} in an archive", archive([Entry("a.npy", npy(header))])
    for version in (b"\0\0", b"\1\1", b"\4\0", b"\xff\xff"):
        yield f"version {version!r}", npy(GOOD, version=version)
    for length in (0, 1, 10, 200, 65535):
        yield f"a header said to be {length}", npy(GOOD, length=length)
    for length in (0, 10**6, 2**31, 2**32 - 1):
        yield f"a long header said to be {length}", npy(GOOD, version=b"\2\0", length=length)
    yield "objects with a pickle", npy(HEADERS["objects"], BOMB)
    whole = npy(GOOD)
    for end in (6, 8, 10, 30, len(whole) - 24, len(whole) - 1):
        yield f"cut after {end}", whole[:end]
    yield "bytes behind", whole + b"x"
    yield from archives(whole)


def archives(whole: bytes) -> Iterator[tuple[str, bytes]]:
    zeros = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (8388608,), }", bytes(64 << 20))
    yield "a compressed array of zeros", archive([Entry("a.npy", zeros, stored=deflated(zeros))])
    packed = deflated(whole)
    for size in (0, len(whole) - 1, len(whole) + 1, 10**9):
        lie = {"nbytes": size}
        yield f"unpacks to {size}", archive([Entry("a.npy", whole, lie, lie, packed)])
    yield "damaged compression", archive([Entry("a.npy", whole, stored=b"\xff" * 50)])
    yield "more than one stream", archive([Entry("a.npy", whole, stored=packed + packed)])
    yield "cut compression", archive([Entry("a.npy", whole, stored=packed[:-3])])
    wrong = {"crc": zlib.crc32(b"x")}
    yield "wrong checksum", archive([Entry("a.npy", whole, wrong, wrong)])
    yield "wrong checksum, compressed", archive([Entry("a.npy", whole, wrong, wrong, packed)])
    yield "an array twice", archive([Entry("a.npy", whole), Entry("a.npy", whole)])
    yield "an array that leaves", archive([Entry("../a.npy", whole)])
    yield "a pickle for an array", archive([Entry("a.npy", BOMB)])
    yield "an array among others", archive([Entry("a.npy", whole), Entry("a.py", b"")])
    yield "one bad array of two", archive([Entry("a.npy", whole), Entry("b.npy", whole[:-1])])
