"""GGUF files, built here by their specification: facts and tensors are read, blocks are refused by name."""

from __future__ import annotations

import io
import re
import struct
import tracemalloc

import ml_dtypes
import numpy as np
import pytest

import taeda
from taeda._io.blocks import KINDS
from taeda._io.gguf import _BLOCK_NAMES
from taeda._io.safetensors import FormatError

TYPES = {
    0: np.float32,
    1: np.float16,
    24: np.int8,
    25: np.int16,
    26: np.int32,
    27: np.int64,
    28: np.float64,
    30: ml_dtypes.bfloat16,
}
U32, F32, BOOL, TEXT, ARRAY, U64 = 4, 6, 7, 8, 9, 10


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


FACTS = {
    "general.architecture": (struct.pack("<I", TEXT) + text("llama"), "llama"),
    "layers": (struct.pack("<2I", U32, 32), 32),
    "eps": (struct.pack("<If", F32, 0.5), 0.5),
    "tied": (struct.pack("<I?", BOOL, True), True),
    "size": (struct.pack("<IQ", U64, 2**40), 2**40),
    "tokens": (struct.pack("<2IQ", ARRAY, TEXT, 2) + text("a") + text("é"), ["a", "é"]),
    "scores": (struct.pack("<2IQ3f", ARRAY, F32, 3, 1, 2, 3), [1, 2, 3]),
}


def build(tensors, facts=FACTS, version=3, alignment=32, kind=None):
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(facts))
    head += b"".join(text(name) + data for name, (data, _) in facts.items())
    body = b""
    for name, array in tensors.items():
        code = next(c for c, t in TYPES.items() if np.dtype(t) == array.dtype)
        body += bytes(-len(body) % alignment)
        dims = array.shape[::-1]
        head += text(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
        head += struct.pack("<IQ", code if kind is None else kind, len(body))
        body += array.tobytes()
    return head + bytes(-len(head) % alignment) + body


def load(data, **options):
    return taeda.load(io.BytesIO(data), **options)


ARRAYS = {f"t{code}": np.arange(6).reshape(2, 3).astype(kind) for code, kind in TYPES.items()}


@pytest.mark.parametrize("version", [2, 3])
def test_tensors_and_facts(version, tmp_path):
    data = build(ARRAYS, version=version)
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    for made in (load(data), taeda.load(path), taeda.load(path, mmap=True)):
        assert made.metadata == {name: value for name, (_, value) in FACTS.items()}
        assert list(made) == list(ARRAYS)
        for name, array in ARRAYS.items():
            assert made[name].dtype == getattr(taeda, array.dtype.name)
            assert made[name].tolist() == array.astype(float).tolist()
    assert load(data, map_location="meta")["t0"].is_meta


def test_a_tensor_without_dimensions():
    made = load(build({"w": np.array(2.5, np.float32)}))["w"]
    assert (made.shape, made.item()) == ((), 2.5)


def test_another_alignment():
    facts = {"general.alignment": (struct.pack("<2I", U32, 128), 128)}
    assert load(build(ARRAYS, facts, alignment=128))["t30"].tolist() == [[0, 1, 2], [3, 4, 5]]


ONE = {"w": np.ones((2, 3), np.float32)}
PLAIN = build(ONE)
REFUSED = {
    "version 1": (build(ONE, version=1), "version 1"),
    "big-endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
    "blocks of another kind": (
        build(ONE, kind=13),
        "tensor 'w' is quantized \\(Q5_K\\).*blocks of Q8_0",
    ),
    "rows that are no blocks": (build(ONE, kind=12), "\\(Q4_K\\).*no multiple of 256"),
    "blocks without dimensions": (
        build({"w": np.array(1, np.float32)}, kind=8),
        "no multiple of 32",
    ),
    "unknown type": (build(ONE, kind=99), "unknown type 99"),
    "cut": (PLAIN[:-1], "truncated: tensor 'w'"),
    "cut facts": (PLAIN[:200], "truncated"),
    "many tensors": (PLAIN[:8] + struct.pack("<Q", 2**60) + PLAIN[16:], "more than it can hold"),
    "many facts": (PLAIN[:16] + struct.pack("<Q", 2**60) + PLAIN[24:], "more than it can hold"),
    "long text": (PLAIN[:24] + struct.pack("<Q", 2**60) + PLAIN[32:], "asks for more|truncated"),
    "unknown kind": (build(ONE, {"x": (struct.pack("<I", 77), 0)}), "unknown kind 77"),
    "deep": (
        build(ONE, {"x": (struct.pack("<I", ARRAY) * 9 + bytes(80), 0)}),
        "unknown kind|trunc",
    ),
    "long array": (build(ONE, {"x": (struct.pack("<2IQ", ARRAY, 0, 2**50), 0)}), "truncated"),
    "alignment": (
        build(ONE, {"general.alignment": (struct.pack("<2I", U32, 3), 3)}),
        "power of two",
    ),
    "overlap": (
        build({"a": ONE["w"], "b": ONE["w"]}).replace(
            struct.pack("<IQ", 0, 32), struct.pack("<IQ", 0, 0)
        ),
        "overlaps",
    ),
    "shape": (
        PLAIN.replace(struct.pack("<2Q", 3, 2), struct.pack("<2Q", 2**33, 2**33)),
        "cannot be",
    ),
}


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(data, message):
    with pytest.raises(FormatError, match=message):
        load(data)


def test_the_same_name_twice():
    data = build({"a": ONE["w"], "b": ONE["w"]})
    with pytest.raises(FormatError, match="tensor 'a' is there twice"):
        load(data.replace(text("b"), text("a"), 1))


def test_the_same_fact_twice():
    facts = {name: (struct.pack("<2I", U32, 1), 1) for name in ("ab", "cd")}
    with pytest.raises(FormatError, match="the fact 'ab' is told twice"):
        load(build(ONE, facts).replace(b"cd", b"ab", 1))


def test_bytes_behind_the_last_tensor():
    load(PLAIN + bytes(31 - len(PLAIN) % 32))  # padding up to the alignment is none
    with pytest.raises(FormatError, match="bytes follow the last tensor"):
        load(PLAIN + bytes(64))


def test_what_is_wrong_behind_an_array_is_found_before_the_array_is_made():
    count = 1_000_000

    def text(value):
        return struct.pack("<Q", len(value)) + value

    fact = text(b"a") + struct.pack("<IIQ", 9, 5, count) + struct.pack("<i", 1000) * count
    tensor = text(b"w") + struct.pack("<IQIQ", 1, 1 << 40, 0, 0)
    file = io.BytesIO(b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + fact + tensor + bytes(64))
    tracemalloc.start()
    with pytest.raises(FormatError, match="truncated"):
        taeda.load(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20  # as a list it takes 40 MB


def in_blocks():
    """A file of every kind of block that is read, and of plain numbers, with facts of three kinds."""
    facts = {name: FACTS[name] for name in ("layers", "tied", "tokens")}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(KINDS) + 1, len(facts))
    head += b"".join(text(name) + data for name, (data, _) in facts.items())
    body = b""
    codes = {name: code for code, name in _BLOCK_NAMES.items()}
    stored = {name: (codes[name], kind.numbers, bytes(kind.nbytes)) for name, kind in KINDS.items()}
    for name, (code, size, data) in {**stored, "plain": (0, 3, bytes(12))}.items():
        body += bytes(-len(body) % 32)
        head += text(name) + struct.pack("<IQIQ", 1, size, code, len(body))
        body += data
    return head + bytes(-len(head) % 32) + body, len(head)


WHOLE, HEAD = in_blocks()


def outcome(data):
    """What is wrong with a file, "" if it is read; whatever else is raised goes through."""
    try:
        made = load(data)
    except FormatError as error:
        return str(error)
    for value in made.values():
        (value if isinstance(value, taeda.Tensor) else value.dequantize()).sum()
    return ""


def names_what_came(message):
    """A number, or something quoted."""
    return bool(re.search(r"\d|'.+'", message))


def test_every_cut_is_refused_and_named():
    assert outcome(WHOLE) == ""
    for size in range(4, len(WHOLE)):
        message = outcome(WHOLE[:size])
        assert names_what_came(message), (size, message)


def test_every_flip_of_the_head_is_read_or_named():
    """A bit of a name, or of a number among facts, tells of something else; no bit does more than that."""
    read = 0
    for at in range(4, HEAD):
        for bit in range(8):
            data = bytearray(WHOLE)
            data[at] ^= 1 << bit
            message = outcome(bytes(data))
            read += not message
            assert not message or names_what_came(message), (at, bit, message)
    assert 0 < read < 4 * HEAD  # of 8 * HEAD


def test_every_unknown_type_is_named():
    place = WHOLE.index(text("plain")) + len(text("plain")) + 12
    known = {code for code, name in _BLOCK_NAMES.items() if name in KINDS} | set(TYPES)
    for code in [*range(300), 2**31, 2**32 - 1]:
        data = WHOLE[:place] + struct.pack("<I", code) + WHOLE[place + 4 :]
        if code not in known:
            name = _BLOCK_NAMES.get(code, f"the unknown type {code}")
            assert f"tensor 'plain' is quantized ({name})" in outcome(data)
        elif code in (27, 28) or code not in TYPES:  # twice as long, or blocks
            assert "tensor 'plain'" in outcome(data)
        else:
            assert outcome(data) == ""


@pytest.mark.parametrize("kind", [8, 9, 13, 77, 2**32 - 1])
def test_every_unknown_kind_of_fact_is_named(kind):
    message = outcome(build(ONE, {"x": (struct.pack("<I", kind) + bytes([255] * 9), 0)}))
    assert names_what_came(message)
    assert kind in (8, 9) or f"unknown kind {kind}" in message
