"""torch's form before 1.6: pickles and storages in a row, with lies in each."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from .words import call, glob, pickled, tup

__all__ = ["files", "stream"]

MAGIC = 0x1950A86A20F9469CFC6C
NUMBERS = struct.pack("<6f", *range(6))
FACTS = {
    "protocol_version": 1001,
    "little_endian": True,
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}


def store(
    key: Any = "0",
    place: Any = "cpu",
    count: Any = 6,
    view: Any = None,
    kind: str = "torch FloatStorage",
) -> bytes:
    return tup("storage", glob(kind), key, place, count, view) + b"Q"


def floats(*stores: bytes) -> bytes:
    made = [
        call(
            "torch._utils _rebuild_tensor_v2",
            s,
            0,
            (2,),
            (1,),
            False,
            call("collections OrderedDict"),
        )
        for s in stores or (store(),)
    ]
    return pickled(tup(*made))


def stream(
    body: bytes | None = None,
    keys: Any = ("0",),
    counts: Any = (6,),
    data: bytes = NUMBERS,
    magic: Any = MAGIC,
    protocol: Any = 1001,
) -> bytes:
    body = floats() if body is None else body
    head = pickled(magic) + pickled(protocol) + pickled(FACTS)
    names = pickled(list(keys) if isinstance(keys, tuple) else keys)
    return head + body + names + b"".join(struct.pack("<q", count) + data for count in counts)


def files() -> Iterator[tuple[str, bytes]]:
    for magic in (0, MAGIC + 1, "x", None, [MAGIC]):
        yield f"magic {magic!r}", stream(magic=magic)
    for protocol in (0, 1000, 1002, None, "1001"):
        yield f"protocol {protocol!r}", stream(protocol=protocol)
    for count in (0, 5, 7, -1, 2**31, 2**62, 2**63 - 1):
        yield f"{count} elements in the file", stream(counts=(count,))
        yield f"{count} elements in the object", stream(floats(store(count=count)))
        if count not in (0, 5):  # fewer in both is a smaller file
            yield f"{count} elements in both", stream(floats(store(count=count)), counts=(count,))
    for keys in (
        (),
        ("1",),
        ("0", "0"),
        ("0", "1"),
        (0,),
        (None,),
        5,
        None,
        "0",
        {"0": 1},
        ("0",) * 10_000,
    ):
        yield f"keys {keys!r:.40}", stream(keys=keys)
    for view in (
        5,
        (),
        ("v", 0),
        ("v", 0, 7),
        ("v", -1, 2),
        ("v", 5, 2),
        ("v", 2**62, 2),
        ("v", 0, -1),
        (None, 0, 2),
        ("v", "0", 2),
    ):
        yield f"part {view!r}", stream(floats(store(view=view)))
    yield "one storage, two lengths", stream(floats(store(), store(count=5)))
    yield "one storage, two types", stream(floats(store(), store(kind="torch IntStorage")))
    many = [store(str(i), count=5) for i in range(100)]
    yield (
        "a hundred storages of one's bytes",
        stream(floats(*many), tuple(map(str, range(100))), (5,)),
    )
    yield "storages larger than the file", stream(floats(store(count=2**40)), counts=(2**40,))
    for key in (0, None, ("0",), b"C\x010"):
        yield f"key {key!r}", stream(floats(store(key=key)))
    yield (
        "a whole module",
        stream(pickled(tup("module", glob("torch FloatStorage"), "a.py", "code") + b"Q")),
    )
    yield "another identity", stream(pickled(tup("network", "a", "b") + b"Q"))
    whole = stream()
    yield "behind: bytes", whole + b"x"
    yield "behind: another file", whole + whole
    for end in range(3, len(whole), 11):
        yield f"cut after {end}", whole[:end]
    yield (
        "no end of a pickle in a megabyte",
        pickled(MAGIC) + pickled(1001) + pickled({}) + b"\x80\x02" + b"]" * (2 << 20),
    )
    yield (
        "facts that are deep",
        pickled(MAGIC) + pickled(1001) + pickled(b"]" * 100_000 + b"a" * 99_999) + pickled(None),
    )
