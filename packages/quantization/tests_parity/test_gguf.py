"""Blocks against gguf's own numpy code, on random bytes with sane scales."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest

import taeda
from taeda._io.blocks import KINDS

gguf = pytest.importorskip(
    "gguf", reason="compares with the distribution gguf, which is not installed here"
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_gguf_s_numbers(kind):
    of_gguf = gguf.GGMLQuantizationType[kind]
    numbers, size = gguf.GGML_QUANT_SIZES[of_gguf]
    assert (numbers, size) == (KINDS[kind].numbers, KINDS[kind].nbytes)
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, (64, 8, size)).astype(np.uint8)
    places = {"Q4_1": (0, 2), "Q4_K": (0, 2), "Q6_K": (208,)}  # of float16 numbers
    for at in places.get(kind, (0,)):
        scales = rng.uniform(-0.1, 0.1, (64, 8, 1)).astype("<f2")
        data[..., at : at + 2] = scales.view(np.uint8)
    data = data.reshape(64, -1)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q", 1) + b"w"
    head += struct.pack("<I2QIQ", 2, 8 * numbers, 64, of_gguf.value, 0)
    made = taeda.load(io.BytesIO(head + bytes(-len(head) % 32) + data.tobytes()))["w"]
    want = gguf.quants.dequantize(data, of_gguf)
    assert np.array_equal(made.dequantize().numpy(), want)
