"""examples/llama_gguf on a file made here: its numbers, a prompt at once and by tokens, caches."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from by_path import load

import taeda
from taeda.quantization import Int4Linear, Int8Cache, Int8Embedding, Int8Linear

FILE = Path(__file__).parents[3] / "examples" / "llama_gguf" / "decode.py"
WIDTH, INNER, LAYERS, HEADS, KEY_HEADS, VOCABULARY = 256, 512, 2, 8, 4, 300
# code, numbers and bytes of a block, where its float16 numbers lie
KINDS = {
    "Q8_0": (8, 32, 34, (0,)), "Q4_0": (2, 32, 18, (0,)), "Q4_1": (3, 32, 20, (0, 2)),
    "Q4_K": (12, 256, 144, (0, 2)), "Q6_K": (14, 256, 210, (208,)),
}  # fmt: skip
SMALL = {"Q8_0": 0.0005, "Q4_0": 0.008, "Q4_1": 0.004, "Q4_K": 0.0002, "Q6_K": 0.00005}
PIECES = [
    "<unk>",
    "<s>",
    "</s>",
    *(f"<0x{b:02X}>" for b in range(256)),
    *"abc",
    "\u2581",
    "ab",
    "\u2581ab",
]


@pytest.fixture(scope="module")
def decode():
    return load("examples/llama_gguf/decode.py")


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def fact(name, value):
    kinds = {
        str: (8, text),
        int: (4, lambda v: struct.pack("<I", v)),
        float: (6, lambda v: struct.pack("<f", v)),
    }
    if isinstance(value, list):
        code, write = kinds[type(value[0])]
        return text(name) + struct.pack("<IIQ", 9, code, len(value)) + b"".join(map(write, value))
    code, write = kinds[type(value)]
    return text(name) + struct.pack("<I", code) + write(value)


def blocks(rng, kind, rows, columns):
    _, numbers, size, places = KINDS[kind]
    data = rng.integers(0, 256, (rows, columns // numbers, size)).astype(np.uint8)
    for at in places:
        scales = (rng.uniform(0.5, 1, (rows, columns // numbers, 1)) * SMALL[kind]).astype("<f2")
        data[..., at : at + 2] = scales.view(np.uint8)
    return data.tobytes()


def write(path, tied=False):
    """A file of which each matrix is of another kind of blocks."""
    rng, key = np.random.default_rng(0), WIDTH // HEADS * KEY_HEADS
    tensors = {
        "token_embd.weight": ("Q6_K", VOCABULARY, WIDTH),
        "output_norm.weight": (None, WIDTH),
    }
    if not tied:
        tensors["output.weight"] = ("Q6_K", VOCABULARY, WIDTH)
    for i in range(LAYERS):
        tensors |= {f"blk.{i}.{name}.weight": value for name, value in {
            "attn_norm": (None, WIDTH), "ffn_norm": (None, WIDTH), "attn_q": ("Q4_K", WIDTH, WIDTH),
            "attn_k": ("Q8_0", key, WIDTH), "attn_v": ("Q6_K", key, WIDTH),
            "attn_output": ("Q4_0", WIDTH, WIDTH), "ffn_gate": ("Q4_1", INNER, WIDTH),
            "ffn_up": ("Q4_K", INNER, WIDTH), "ffn_down": ("Q6_K", WIDTH, INNER),
        }.items()}  # fmt: skip
    facts = {
        "general.architecture": "llama", "llama.context_length": 64, "llama.block_count": LAYERS,
        "llama.embedding_length": WIDTH, "llama.feed_forward_length": INNER,
        "llama.attention.head_count": HEADS, "llama.attention.head_count_kv": KEY_HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": PIECES,
        "tokenizer.ggml.scores": [-float(i) for i in range(len(PIECES))],
    }  # fmt: skip
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts))
    head += b"".join(fact(*item) for item in facts.items())
    body = b""
    for name, (kind, *shape) in tensors.items():
        body += bytes(-len(body) % 32)
        head += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        head += struct.pack("<IQ", KINDS[kind][0] if kind else 0, len(body))
        body += (
            blocks(rng, kind, *shape)
            if kind
            else rng.uniform(0.5, 1.5, shape).astype("<f4").tobytes()
        )
    path.write_bytes(head + bytes(-len(head) % 32) + body)
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write(tmp_path_factory.mktemp("gguf") / "model.gguf")


def as_floats(decode, tensors):
    """The same model with every matrix in float32."""
    model = decode.Llama(decode.Config.of(tensors)).eval()
    floats = {
        decode.renamed(name): value if isinstance(value, taeda.Tensor) else value.dequantize()
        for name, value in tensors.items()
    }
    model.load_state_dict(floats)
    return model


def scores(model, codes, caches, step):
    with taeda.no_grad():
        for begin in range(0, len(codes), step):
            last = model(taeda.tensor([codes[begin : begin + step]]), caches)
    return last


def test_it_computes_what_its_floats_compute(decode, file):
    tensors = taeda.load(file)
    model, floats = decode.model_of(tensors), as_floats(decode, tensors)
    kinds = [type(part) for part in (model.tokens, model.head, model.blocks[0].attention.query)]
    assert kinds == [Int8Embedding, Int8Linear, Int4Linear]
    codes = [1, 7, 250, 33, 4, 90, 12]
    want = scores(floats, codes, floats.caches(), 7)
    assert want.abs().max() > 0.1
    for step in (1, 3, 7):
        got = scores(model, codes, model.caches(), step)
        assert (got - want).abs().max() < 1e-3 * want.abs().max()
        short = scores(model, codes, model.caches(Int8Cache), step)
        assert (short - want).abs().max() < 0.05 * want.abs().max()


def test_rotary_positions_count_distances(decode):
    """The product of a turned key and a turned query tells how far they are apart, and no more."""
    model = decode.Llama(decode.Config(10, 64, 1, 64, 64, 2, 2))
    q, k = taeda.randn(2, 1, 1, 1, 32)

    def product(i, j):
        one, other = (decode.turned(v, model.angles(at, 1)) for v, at in ((q, i), (k, j)))
        return float((one * other).sum())

    assert product(9, 14) == pytest.approx(product(0, 5), abs=1e-4)
    assert product(40, 45) == pytest.approx(product(0, 5), abs=1e-4)
    assert abs(product(0, 6) - product(0, 5)) > 1e-3


def test_a_head_that_is_the_table_of_tokens(decode, tmp_path):
    model = decode.model_of(taeda.load(write(tmp_path / "tied.gguf", tied=True)))
    assert taeda.equal(model.head.dequantize(), model.tokens.dequantize())
    assert model.head.weight.data_ptr() == model.tokens.weight.data_ptr()


def test_it_writes_tokens(file):
    words = [sys.executable, str(FILE), str(file), "--prompt", "ab abc \u00e9", "--tokens", "5"]
    for cache in ("float", "int8"):
        ran = subprocess.run([*words, "--cache", cache], capture_output=True, text=True, check=True)
        assert "5 tokens in" in ran.stdout
    ran = subprocess.run([*words, "--codes", "1", "5"], capture_output=True, text=True, check=True)
    assert "the prompt of 2 included" in ran.stdout


def test_pieces(decode, file):
    pieces = decode.Pieces(taeda.load(file).metadata)
    codes = pieces.encode("ab abc \u00e9")
    assert [PIECES[code] for code in codes] == [
        "<s>", "\u2581ab", "\u2581ab", "c", "\u2581", "<0xC3>", "<0xA9>",
    ]  # fmt: skip
    assert "".join(map(pieces.decode, codes[1:4])) == " ab abc"


def test_other_architectures_are_refused(decode, file):
    tensors = taeda.load(file)
    tensors.metadata["general.architecture"] = "mamba"
    with pytest.raises(ValueError, match="'mamba', not 'llama'"):
        decode.model_of(tensors)
