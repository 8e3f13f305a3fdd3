"""Blocks of quantized numbers, of random bytes: any bytes are a block. The numbers are computed here one by
one, as ggml's description of each kind has them.
"""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest

import taeda
from taeda._io.blocks import KINDS, Blocks
from taeda._io.safetensors import FormatError

CODES = {"Q4_0": 2, "Q4_1": 3, "Q8_0": 8, "Q4_K": 12, "Q6_K": 14}


def floats(block, *places):
    return [float(np.frombuffer(bytes(block[at : at + 2]), "<f2")[0]) for at in places]


def q8_0(block):
    (scale,) = floats(block, 0)
    return [scale * (b - 256 if b > 127 else b) for b in map(int, block[2:])]


def nibbles(bytes_):
    return [int(b) & 15 for b in bytes_] + [int(b) >> 4 for b in bytes_]


def q4_0(block):
    (scale,) = floats(block, 0)
    return [scale * (q - 8) for q in nibbles(block[2:])]


def q4_1(block):
    scale, least = floats(block, 0, 2)
    return [np.float32(scale * q) + np.float32(least) for q in nibbles(block[4:])]


def q4_k(block):
    """Of eight scales and eight offsets in 12 bytes the first four lie in 6 bits of a byte each; of the
    others four bits lie in the last bytes, and two above the first ones.
    """
    step, least = floats(block, 0, 2)
    s = list(map(int, block[4:16]))
    made = []
    for j in range(8):
        if j < 4:
            scale, offset = s[j] & 63, s[j + 4] & 63
        else:
            scale = (s[j + 4] & 15) | (s[j - 4] >> 6 << 4)
            offset = (s[j + 4] >> 4) | (s[j] >> 6 << 4)
        run = block[16 + j // 2 * 32 : 48 + j // 2 * 32]
        qs = [int(b) >> 4 if j % 2 else int(b) & 15 for b in run]
        made += [np.float32(step * scale * q) - np.float32(least * offset) for q in qs]
    return made


def q6_k(block):
    (step,) = floats(block, 208)
    made = []
    for half in range(2):
        low, high = block[64 * half :], block[128 + 32 * half :]
        for j in range(128):
            byte = int(low[j % 64])
            four = byte >> 4 if j >= 64 else byte & 15
            two = int(high[j % 32]) >> (2 * (j // 32)) & 3
            scale = int(block[192 + 8 * half + j // 16])
            scale -= 256 if scale > 127 else 0
            made.append(step * scale * ((four | two << 4) - 32))
    return made


WANTED = {"Q8_0": q8_0, "Q4_0": q4_0, "Q4_1": q4_1, "Q4_K": q4_k, "Q6_K": q6_k}


def random_blocks(kind, rows, row):
    """Random bytes with sane scales."""
    rng = np.random.default_rng([rows, row, CODES[kind]])
    data = rng.integers(0, 256, (rows, row, KINDS[kind].nbytes)).astype(np.uint8)
    places = {"Q4_1": (0, 2), "Q4_K": (0, 2), "Q6_K": (208,)}
    for at in places.get(kind, (0,)):
        scales = rng.uniform(-0.1, 0.1, (rows, row)).astype("<f2")
        data[..., at : at + 2] = scales[..., None].view(np.uint8).reshape(rows, row, 2)
    return data


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(kind, data, shape):
    """A file of one tensor, `w`."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + text("w")
    head += struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
    head += struct.pack("<IQ", CODES[kind], 0)
    return head + bytes(-len(head) % 32) + data.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lead", [(), (3,), (2, 2)])
def test_numbers(kind, lead, tmp_path):
    rows = int(np.prod(lead))
    data = random_blocks(kind, rows, 2)
    shape = (*lead, 2 * KINDS[kind].numbers)
    path = tmp_path / "a.gguf"
    path.write_bytes(gguf(kind, data, shape))
    want = np.array([[x for block in row for x in WANTED[kind](block)] for row in data], "f4")
    for loaded in (taeda.load(path), taeda.load(path, mmap=True)):
        made = loaded["w"]
        assert isinstance(made, Blocks)
        assert (made.kind, made.shape) == (kind, shape)
        assert repr(made) == f"Blocks({kind}, shape={shape})"
        assert np.array_equal(made.dequantize().numpy(), want.reshape(shape))


@pytest.mark.parametrize("kind", KINDS)
def test_integers_are_those_of_the_file(kind):
    made = taeda.load(io.BytesIO(gguf(kind, random_blocks(kind, 3, 1), (3, KINDS[kind].numbers))))[
        "w"
    ]
    parts = made.integers()
    assert parts.q.shape == made.shape
    assert parts.q.dtype == (taeda.int8 if kind in ("Q8_0", "Q6_K") else taeda.uint8)
    assert parts.scales.shape == (3, KINDS[kind].numbers // (16 if kind == "Q6_K" else 32))
    assert taeda.equal(parts.expanded(), made.dequantize())


@pytest.mark.parametrize("shape", [(3, 0), (0, 256)])
@pytest.mark.parametrize("kind", KINDS)
def test_no_blocks(kind, shape):
    made = taeda.load(io.BytesIO(gguf(kind, np.zeros(0, np.uint8), shape)))["w"]
    assert made.dequantize().shape == shape


def test_meta():
    made = taeda.load(
        io.BytesIO(gguf("Q8_0", random_blocks("Q8_0", 3, 1), (3, 32))), map_location="meta"
    )["w"]
    assert made.data.is_meta
    assert made.dequantize().shape == (3, 32)


@pytest.mark.parametrize("cut", [1, 30, 100])
def test_a_file_that_is_cut_is_refused(cut):
    data = gguf("Q4_0", random_blocks("Q4_0", 8, 1), (8, 32))
    with pytest.raises(FormatError, match="truncated"):
        taeda.load(io.BytesIO(data[:-cut]))
