"""Pickles whose instructions, lengths, memo or depth are meant to break the machine that reads them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .words import call, glob, pickled, pt, tensor, text, tup, word

__all__ = ["files"]

VALUES = {
    "None": b"N",
    "an int": b"K\x05",
    "a text": text("a"),
    "a list": b"]",
    "a tuple": b"K\x01\x85",
    "a dict": b"}",
    "a set": b"\x8f",
    "bytes": b"C\x01a",
    "a tensor": tensor(),
    "a name": glob("collections OrderedDict"),
    "a dtype": glob("torch float32"),
    "nothing": b"",
}
# instruction: (what is pushed after the target, targets that it is meant for)
ON_TARGET = {
    "APPEND": (b"K\x01a", {"a list"}),
    "APPENDS": (b"(K\x01e", {"a list"}),
    "SETITEM": (text("k") + b"K\x01s", {"a dict"}),
    "SETITEMS": (b"(" + text("k") + b"K\x01u", {"a dict"}),
    "odd SETITEMS": (b"(" + text("k") + b"u", set()),
    "ADDITEMS": (b"(K\x01\x90", {"a set"}),
    "BUILD": (b"}" + text("__class__") + b"K\x01sb", set()),
    "BUILD by number": (b"K\x01b", set()),
    "REDUCE": (b")R", {"a name"}),
    "REDUCE by list": (b"]R", set()),
    "NEWOBJ": (b")\x81", {"a name"}),
    "STACK_GLOBAL": (b"K\x01\x93", set()),
    "PERSID": (b"Q", set()),
    "TUPLE without mark": (b"t", set()),
    "DICT without mark": (b"d", set()),
    "TUPLE3": (b"\x87", set()),
    "POP_MARK": (b"1", set()),
}
LENGTHS = {
    "X": 4,
    "\x8c": 1,
    "\x8d": 8,
    "T": 4,
    "U": 1,
    "B": 4,
    "C": 1,
    "\x8e": 8,
    "\x96": 8,
    "\x8a": 1,
    "\x8b": 4,
}
PRIME = 2**61 - 1  # hashes of ints are remainders by it


def files() -> Iterator[tuple[str, bytes]]:
    yield from long_pickles()
    yield from memo_and_depth()
    yield from lengths()
    yield from wrong_operands()
    for code in range(256):
        yield f"instruction {code:#04x} and rubbish", pt(b"\x80\x02" + bytes([code]) + b"\xff" * 20)
    for code in range(0x80):
        yield f"instruction {code:#04x} first", pt(bytes([code]) + b"\x02N.", raw=True)
    for protocol in (0, 1, 6, 9, 255):
        yield f"protocol {protocol}", pt(bytes([0x80, protocol]) + b"N.")


def memo_and_depth() -> Iterator[tuple[str, bytes]]:
    deep = 100_000
    yield "lists to depth 10^5", pt(b"]" * deep + b"a" * (deep - 1))
    yield "tuples to depth 10^5", pt(b")" + b"\x85" * deep)
    yield "dicts to depth 10^5", pt(b"}" + (text("a") + b"}") * deep + b"s" * deep)
    yield "marks to depth 10^5", pt(b"(" * deep + b"t" * deep)
    yield "depth by the memo", pt(deep_by_memo(2000))
    yield "a list in itself", pt(b"]q\x00h\x00a")
    yield "a dict in itself", pt(b"}q\x00" + text("a") + b"h\x00s")
    yield "a list in a tuple in itself", pt(b"]q\x00h\x00\x85a")
    yield "a key that doubles 60 times", pt(b"}" + doubling(60) + b"Ns")
    yield "a set of what doubles", pt(b"\x8f(" + doubling(60) + b"\x90")
    yield "a frozenset that doubles", pt(b"(K\x01\x91" + b"q\x00(h\x00h\x00\x86\x91" * 60)
    yield (
        "one hash 40,000 times",
        pt(b"}(" + b"".join(word(PRIME * i + 7) + b"N" for i in range(40_000)) + b"u"),
    )
    yield (
        "one hash in a set",
        pt(b"\x8f(" + b"".join(word(PRIME * i + 7) for i in range(5_000)) + b"\x90"),
    )
    yield (
        "one hash of complex keys",
        pt(b"}(" + b"".join(complex_key(i) + b"N" for i in range(2_000)) + b"u"),
    )
    for index in (1, 7, 255):
        yield f"memo entry {index} never set", pt(b"h" + bytes([index]))
    for index in (1000, 2**31, 2**32 - 1):
        yield f"memo entry {index} set first", pt(b"Nr" + struct.pack("<I", index))
        yield f"memo entry {index} got", pt(b"j" + struct.pack("<I", index))
    yield "MEMOIZE on nothing", pt(b"\x94")
    yield "PUT in text", pt(b"Np99999999999999999999\n")
    yield "GET in text", pt(b"g0\n")
    for count in (700_000, 3_000_000):
        yield f"{count} lists", pt(b"(" + b"]" * count + b"l")
        yield f"{count} sets", pt(b"(" + b"\x8f" * count + b"l")
        yield f"{count} dicts of one", pt(b"](" + b"}K\x01Ns" * (count // 5) + b"e")
    yield "5 million memo entries", pt(b"N" + b"\x94" * 5_000_000)
    yield "DUP 10^6 times", pt(b"]" + b"2" * 1_000_000)
    yield "a million tensors of one", pt(many_tensors(400_000))
    yield (
        "10^5 OrderedDicts",
        pt(b"](" + glob("collections OrderedDict") + b"q\x00" + b"h\x00)R" * 700_000 + b"e"),
    )
    yield "a Counter of what is counted", pt(call("collections Counter", tensor()))
    yield "stack left over", pt(b"NN")
    yield "nothing on the stack", pt(b"\x80\x02.")
    yield "a mark left over", pt(b"N(N")
    yield "a second pickle behind", pt(pickled(None) + pickled(None))
    yield "no STOP", pt(b"\x80\x02N")
    yield "empty", pt(b"\x80")


def long_pickles() -> Iterator[tuple[str, bytes]]:
    """Pickles of megabytes, that would take much more as objects, and are wrong at their end."""
    wrong = b"K\x05)R"  # a number is called
    small = {
        "lists": b"]",
        "dicts": b"}",
        "sets": b"\x8f",
        "tuples of one": b"N\x85",
        "numbers": b"J\x00\x00\x00\x7f",
        "floats": b"G" + bytes(8),
        "texts": b"\x8c\x01a",
        "dicts of one": b"}K\x01Ns",
        "Nones": b"N",
        "marks and tuples": b"(t",
        "memo entries": b"N\x94",
        "integers of LONG4": b"\x8b\x10\x00\x00\x00" + b"\x7f" * 16,
    }
    for name, words in small.items():
        count = 4_000_000 // len(words)
        yield f"{count} {name}, then a call", pt(b"(" + words * count + b"l" + wrong)
        yield f"{count} {name} and no end", pt(b"\x80\x02(" + words * count + b"l", raw=True)
    large = b"(" + b"N" * 100_000 + b"tq\x00"
    yield "a tuple got 10^6 times", pt(large + b"(" + b"h\x00" * 1_000_000 + b"l" + wrong)
    yield "a tuple put into lists", pt(large + b"0" + b"](" * 5_000 + b"h\x00" * 900_000 + wrong)
    yield (
        "a text of 8 MB, then a call",
        pt(b"X" + struct.pack("<I", 8_000_000) + "€".encode() * 2_666_666 + b"aa" + wrong),
    )
    yield (
        "bytes of 8 MB, then a call",
        pt(b"B" + struct.pack("<I", 8_000_000) + bytes(8_000_000) + wrong),
    )
    yield "LONG4 of 8 MB", pt(b"\x8b" + struct.pack("<I", 8_000_000) + b"\x7f" * 8_000_000)
    frames = (b"\x95" + struct.pack("<Q", 10) + b"N0") * 300_000
    yield "300,000 frames that lie", pt(b"\x80\x04" + frames + b"N" + wrong + b".", raw=True)
    yield "marks beyond number", pt(b"(" * 4_000_000)
    yield "lists nested 2 million times", pt(b"]" * 2_000_000 + b"a" * 1_999_999)


def deep_by_memo(depth: int) -> bytes:
    """Lists that are put into each other from the outside in, so that none is deep when it is put."""
    out = b"]q\x00"
    for _ in range(depth):
        out += b"]q\x01h\x00h\x01a0q\x02h\x01q\x00"
    return b"(" + out + b"t"


def doubling(levels: int) -> bytes:
    return b"K\x01\x85" + b"q\x00h\x00\x86" * levels


def complex_key(i: int) -> bytes:
    return call("__builtin__ complex", float(-1000003 * i), float(i))


def many_tensors(count: int) -> bytes:
    arguments = tup(b"h\x00", 0, (1,), (1,), False, call("collections OrderedDict"))
    start = tensor() + b"0" + tup("storage", glob("torch FloatStorage"), "0", "cpu", 6) + b"Qq\x000"
    return (
        b"("
        + start
        + glob("torch._utils _rebuild_tensor_v2")
        + b"q\x01"
        + arguments
        + b"q\x02R"
        + b"h\x01h\x02R" * count
        + b"l"
    )


def lengths() -> Iterator[tuple[str, bytes]]:
    for code, size in LENGTHS.items():
        for value in (1, 100, 2**15, 2**31, 2**63, 2**64 - 1):
            if value < 1 << 8 * size:
                body = (
                    b"\x80\x02"
                    + code.encode("latin-1")
                    + value.to_bytes(size, "little")
                    + b"a" * (value - 1 if value < 200 else 50)
                )
                yield f"{code!r} of {value} bytes that are not there", pt(body)
        most = ((1 << 8 * size) - 1).to_bytes(size, "little")
        yield f"{code!r} of the most bytes", pt(b"\x80\x02" + code.encode("latin-1") + most)
    for size in (2**20, 2**62):
        yield f"a frame of {size} bytes", pt(b"\x80\x04\x95" + struct.pack("<Q", size) + b"N.")
    yield "an integer of 10^6 bytes", pt(b"\x8b" + struct.pack("<I", 10**6) + b"\x7f" * 10**6)
    yield "an integer in digits", pt(b"I" + b"9" * 10**6 + b"\n")
    yield "a long in digits", pt(b"L" + b"9" * 10**6 + b"L\n")
    yield "a float in digits", pt(b"F1e5\n")
    yield "a string to evaluate", pt(b"S'" + b"a" * 100 + b"'\n")
    yield "a text that is not UTF-8", pt(b"X\x02\x00\x00\x00\xff\xfe")
    yield "a name of a megabyte", pt(b"c" + b"a" * 10**6 + b"\nb\n")
    yield "a name without an end", pt(b"cos")
    yield "a name that is not UTF-8", pt(b"c\xff\n\xfe\n")
    yield "an empty name", pt(b"c\n\n")


def wrong_operands() -> Iterator[tuple[str, bytes]]:
    for name, (body, meant) in ON_TARGET.items():
        for kind, value in VALUES.items():
            if kind not in meant:
                yield f"{name} on {kind}", pt(value + body)
    for kind in ("a list", "a dict", "a set", "a tensor", "a name"):
        yield f"{kind} as a key", pt(b"}" + VALUES[kind] + b"Ns")
        yield f"{kind} in a set", pt(b"\x8f(" + VALUES[kind] + b"\x90")
    for kind in ("a name", "a tensor"):
        yield (
            f"{kind} called by its memo",
            pt(VALUES[kind] + b"q\x00" + b"(K\x01K\x02K\x03K\x04K\x05tR"),
        )
