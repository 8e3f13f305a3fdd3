"""Blocks of a GGUF file as packed weights: the same integers and scales, computed without expanding."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest

import taeda
from taeda import nn
from taeda.quantization import (
    Int4Linear,
    Int8Embedding,
    Int8Linear,
    gguf_state_dict,
    load_quantized_,
)

# code, numbers and bytes of a block, where its float16 numbers begin
KINDS = {
    "Q8_0": (8, 32, 34, 1),
    "Q4_0": (2, 32, 18, 1),
    "Q4_1": (3, 32, 20, 2),
    "Q4_K": (12, 256, 144, 2),
    "Q6_K": (14, 256, 210, 1),
}


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def random_bytes(kind, rows, columns):
    _, numbers, size, floats = KINDS[kind]
    rng = np.random.default_rng([rows, columns])
    data = rng.integers(0, 256, (rows, columns // numbers, size)).astype(np.uint8)
    scales = rng.uniform(0.001, 0.01, (rows, columns // numbers, floats)).astype("<f2")
    begin = 208 if kind == "Q6_K" else 0
    data[..., begin : begin + 2 * floats] = scales.view(np.uint8)
    return data


def gguf(tensors):
    """tensors: name -> (kind, shape), or a float32 array."""
    head, body = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 0), b""
    for name, value in tensors.items():
        body += bytes(-len(body) % 32)
        if isinstance(value, np.ndarray):
            code, shape, data = 0, value.shape, value.tobytes()
        else:
            code, shape, data = (
                KINDS[value[0]][0],
                value[1],
                random_bytes(value[0], *value[1]).tobytes(),
            )
        head += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        head += struct.pack("<IQ", code, len(body))
        body += data
    return taeda.load(io.BytesIO(head + bytes(-len(head) % 32) + body))


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_computes_with_the_numbers_of_the_file(kind):
    tensors = gguf({"0.weight": (kind, (20, 256)), "0.bias": np.ones(20, np.float32)})
    model = load_quantized_(nn.Sequential(nn.Linear(256, 20)), gguf_state_dict(tensors))
    assert type(model[0]) is (Int8Linear if kind in ("Q8_0", "Q6_K") else Int4Linear)
    matrix = tensors["0.weight"].dequantize()
    assert taeda.equal(model[0].dequantize(), matrix)
    x = taeda.linspace(-1, 1, 256)
    want = (matrix.double() @ x.double() + 1).float()
    assert (model(x) - want).abs().max() < 1e-4 * want.abs().max()


def test_names_are_those_of_the_model():
    tensors = gguf({
        "token_embd.weight": ("Q8_0", (50, 64)), "output.weight": ("Q8_0", (50, 64)),
        "output_norm.weight": np.full(64, 2, np.float32),
    })  # fmt: skip
    names = {"token_embd": "tokens", "output": "head", "output_norm": "norm"}
    state = gguf_state_dict(tensors, lambda name: f"{names[name.split('.')[0]]}.weight")
    assert list(state) == [
        "tokens.weight",
        "tokens.scales",
        "head.weight",
        "head.scales",
        "norm.weight",
    ]

    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.norm = nn.Embedding(50, 64), nn.RMSNorm(64)
            self.head = nn.Linear(64, 50, bias=False)

    model = load_quantized_(Small(), state)
    assert type(model.tokens) is Int8Embedding
    assert model.norm.weight.tolist() == [2.0] * 64
    index = taeda.tensor([[3, 49]])
    assert taeda.equal(model.tokens(index), tensors["token_embd.weight"].dequantize()[index])


def test_numbers_of_six_bits_stay_bytes():
    state = gguf_state_dict(gguf({"0.weight": ("Q6_K", (20, 256))}))
    assert state["0.weight"].dtype is taeda.int8
    assert state["0.scales"].shape == (20, 16)
    assert state["0.weight"].abs().max() <= 32


@pytest.mark.parametrize(
    ("tensors", "rename", "fact"),
    [
        ({"rope": ("Q8_0", (2, 32))}, None, "'rope'.*ends in 'weight'"),
        ({"a.weight": ("Q8_0", (2, 32))}, lambda name: "a.table", "becomes 'a.table'"),
        ({"a.weight": ("Q8_0", (2, 32)), "b.weight": ("Q8_0", (2, 32))}, lambda name: "c.weight",
         "two tensors become 'c"),
    ],
)  # fmt: skip
def test_refusals(tensors, rename, fact):
    with pytest.raises(ValueError, match=fact):
        gguf_state_dict(gguf(tensors), rename)
