"""A GPT of 124 million parameters writes tokens: in float32, in bfloat16, and with weights of 8 and 4 bits.

Every form is saved, loaded into a fresh model, and then decodes in turns with the others, one token at a
time behind a cache of keys and values. The weights are drawn from a seed: what they say is noise, what
they cost is what a trained model costs.

    python examples/quantize_gpt/decode.py --threads 1
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.quantization import (
    Report,
    int4_weight_only,
    int8_weight_only,
    load_quantized_,
    quantize_,
)


@dataclass
class Config:
    vocabulary: int = 50257
    context: int = 1024
    layers: int = 12
    heads: int = 12
    width: int = 768


class Cache:
    """Keys and values of the tokens so far, for each layer: (1, heads, context, width of a head)."""

    def __init__(self, config: Config, dtype: taeda.dtype) -> None:
        shape = (2, 1, config.heads, config.context, config.width // config.heads)
        self.layers = [taeda.zeros(shape, dtype=dtype) for _ in range(config.layers)]
        self.length = 0


class Attention(nn.Module):
    """Causal self-attention; new tokens see all that the cache holds."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.heads
        self.inputs = nn.Linear(config.width, 3 * config.width)
        self.output = nn.Linear(config.width, config.width)

    def forward(self, x: taeda.Tensor, past: taeda.Tensor, begin: int) -> taeda.Tensor:
        batch, length, width = x.shape
        parts = self.inputs(x).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        past[0, :, :, begin : begin + length] = k
        past[1, :, :, begin : begin + length] = v
        keys, values = past[:, :, :, : begin + length]
        y = F.scaled_dot_product_attention(q, keys, values, is_causal=begin == 0)
        return self.output(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention and a two-layer network, each behind a norm and beside a shortcut."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.norm2 = nn.LayerNorm(config.width)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, 4 * config.width),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * config.width, config.width),
        )

    def forward(self, x: taeda.Tensor, past: taeda.Tensor, begin: int) -> taeda.Tensor:
        x = x + self.attention(self.norm1(x), past, begin)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Tokens in, scores of the next token out; the embedding and the last layer share their weight."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, codes: taeda.Tensor, cache: Cache) -> taeda.Tensor:
        begin = cache.length
        x = self.tokens(codes) + self.positions(taeda.arange(begin, begin + codes.shape[1]))
        for block, past in zip(self.blocks, cache.layers, strict=True):
            x = block(x, past, begin)
        cache.length += codes.shape[1]
        return self.head(self.norm(x[:, -1]))

    @taeda.no_grad()
    def scores(self, codes: taeda.Tensor, dtype: taeda.dtype) -> taeda.Tensor:
        """(tokens, vocabulary) in float32: what follows each token, one after the other."""
        cache = Cache(self.config, dtype)
        return taeda.cat([self(code.view(1, 1), cache).float() for code in codes])


FORMS: dict[str, tuple[Callable[[nn.Module], Report] | None, taeda.dtype]] = {
    "float32": (None, taeda.float32),
    "bfloat16": (None, taeda.bfloat16),
    "int8": (lambda model: quantize_(model, int8_weight_only(32)), taeda.float32),
    "int4": (lambda model: quantize_(model, int4_weight_only(32)), taeda.float32),
}


def saved_and_loaded(name: str, config: Config, folder: Path) -> tuple[GPT, int, Report | None]:
    """The model in one form, as its file gives it; the file's bytes; what quantization reported."""
    quantize, dtype = FORMS[name]
    taeda.manual_seed(0)
    model = GPT(config).eval().to(dtype)
    report = quantize(model) if quantize else None
    path = folder / f"{name}.pt"
    taeda.save(model.state_dict(), path)
    again = load_quantized_(GPT(config).eval().to(dtype), taeda.load(path))
    return again, path.stat().st_size, report


@taeda.no_grad()
def decode(model: GPT, prompt: taeda.Tensor, count: int, dtype: taeda.dtype) -> list[float]:
    """Seconds of each of `count` tokens, the likeliest one each time, after the prompt (1, n)."""
    cache = Cache(model.config, dtype)
    scores = model(prompt, cache)
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        scores = model(scores.argmax(-1, keepdim=True), cache)
        seconds.append(time.perf_counter() - begin)
    return seconds


def compare(config: Config, count: int, turns: int) -> dict[str, dict[str, float]]:
    """For each form: megabytes of its file, milliseconds and tokens a second, error of its scores."""
    with tempfile.TemporaryDirectory() as folder:
        made = {name: saved_and_loaded(name, config, Path(folder)) for name in FORMS}
    for name, (_, _, report) in made.items():
        print(f"{name}\n{report}\n" if report else "", end="")
    seconds: dict[str, list[float]] = {name: [] for name in FORMS}
    prompt = taeda.arange(min(16, config.context // 2)).view(1, -1)
    for _ in range(turns):
        for name, (model, _, _) in made.items():
            seconds[name] += decode(model, prompt, count, FORMS[name][1])
    scores = {name: m.scores(prompt[0], FORMS[name][1]) for name, (m, _, _) in made.items()}
    return {
        name: {
            "megabytes": size / 1e6,
            "milliseconds": statistics.median(seconds[name]) * 1e3,
            "tokens/s": 1 / statistics.median(seconds[name]),
            "error": float((scores[name] - scores["float32"]).norm() / scores["float32"].norm()),
        }
        for name, (_, size, _) in made.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--tokens", type=int, default=16, help="decoded in each turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    if given.threads:
        taeda.set_num_threads(given.threads)
    config = Config(given.vocabulary, 1024, given.layers, given.heads, given.width)
    for name, facts in compare(config, given.tokens, given.turns).items():
        print(f"{name:9}", "  ".join(f"{value:9.3f} {key}" for key, value in facts.items()))


if __name__ == "__main__":
    main()
