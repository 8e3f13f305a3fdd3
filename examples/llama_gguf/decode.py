"""A Llama-like model from a GGUF file writes tokens: its weights stay in the blocks' integers, and its cache
of keys and values may be int8.

    python examples/llama_gguf/decode.py model.gguf --prompt "Once upon a time" --tokens 40
    python examples/llama_gguf/decode.py model.gguf --codes 1 15043 29892 --cache int8 --threads 4

Read are files of the architecture "llama" whose matrices are plain, Q8_0, Q4_0, Q4_1, Q4_K or Q6_K. Text
needs pieces in the file, of the kind that SentencePiece makes; without them give codes.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.quantization import Int8Cache, gguf_state_dict, load_quantized_

# names in the file -> names in the model, without the number of the block
NAMES = {
    "token_embd": "tokens", "output_norm": "norm", "output": "head",
    "attn_norm": "norm1", "ffn_norm": "norm2", "attn_q": "attention.query",
    "attn_k": "attention.key", "attn_v": "attention.value",
    "attn_output": "attention.output", "ffn_gate": "mlp.gate", "ffn_up": "mlp.up", "ffn_down": "mlp.down",
}  # fmt: skip


@dataclass
class Config:
    """Sizes of a model, as a file tells them."""

    vocabulary: int
    context: int
    layers: int
    width: int
    inner: int
    heads: int
    key_heads: int
    epsilon: float = 1e-5
    base: float = 10000.0

    @classmethod
    def of(cls, tensors: Any) -> Self:
        """From the facts of what `taeda.load` gave; ValueError for another architecture."""
        facts = tensors.metadata
        if facts.get("general.architecture") != "llama":
            raise ValueError(
                f"the file's architecture is {facts.get('general.architecture')!r}, not 'llama'"
            )
        heads = facts["llama.attention.head_count"]
        return cls(
            vocabulary=tensors["token_embd.weight"].shape[0],
            context=facts["llama.context_length"],
            layers=facts["llama.block_count"],
            width=facts["llama.embedding_length"],
            inner=facts["llama.feed_forward_length"],
            heads=heads,
            key_heads=facts.get("llama.attention.head_count_kv", heads),
            epsilon=facts["llama.attention.layer_norm_rms_epsilon"],
            base=facts.get("llama.rope.freq_base", 10000.0),
        )


class FloatCache:
    """Keys and values as they are, with the methods of `Int8Cache`."""

    def __init__(self, batch: int, heads: int, context: int, width: int) -> None:
        self.both, self.length = taeda.zeros(2, batch, heads, context, width), 0

    def append(self, keys: taeda.Tensor, values: taeda.Tensor) -> None:
        end = self.length + keys.shape[2]
        self.both[0, :, :, self.length : end], self.both[1, :, :, self.length : end] = keys, values
        self.length = end

    def attend(self, queries: taeda.Tensor) -> taeda.Tensor:
        keys, values = self.both[:, :, :, : self.length]
        count = queries.shape[2]
        seen = taeda.ones(count, self.length, dtype=taeda.bool).tril(self.length - count)
        return F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=seen, enable_gqa=True
        )


def turned(x: taeda.Tensor, angles: taeda.Tensor) -> taeda.Tensor:
    """Rotary positions: neighbouring numbers are a point that turns by its angle (arXiv:2104.09864)."""
    points = taeda.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return taeda.view_as_real(points * angles).flatten(-2)


class Attention(nn.Module):
    """Causal self-attention; several heads of queries share one of keys and values (arXiv:2305.13245)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.head = config.width // config.heads
        self.query = nn.Linear(config.width, config.width, bias=False)
        self.key = nn.Linear(config.width, config.key_heads * self.head, bias=False)
        self.value = nn.Linear(config.width, config.key_heads * self.head, bias=False)
        self.output = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x: taeda.Tensor, angles: taeda.Tensor, cache: Any) -> taeda.Tensor:
        q, k, v = (
            part(x).unflatten(-1, (-1, self.head)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        cache.append(turned(k, angles), v)
        return self.output(cache.attend(turned(q, angles)).transpose(1, 2).flatten(2))


class MLP(nn.Module):
    """A gated network (arXiv:2002.05202)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(config.width, config.inner, bias=False)
        self.up = nn.Linear(config.width, config.inner, bias=False)
        self.down = nn.Linear(config.inner, config.width, bias=False)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm1 = nn.RMSNorm(config.width, config.epsilon)
        self.attention = Attention(config)
        self.norm2 = nn.RMSNorm(config.width, config.epsilon)
        self.mlp = MLP(config)

    def forward(self, x: taeda.Tensor, angles: taeda.Tensor, cache: Any) -> taeda.Tensor:
        x = x + self.attention(self.norm1(x), angles, cache)
        return x + self.mlp(self.norm2(x))


class Llama(nn.Module):
    """Tokens in, scores of the next token out."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.RMSNorm(config.width, config.epsilon)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)

    def caches(self, kind: type = FloatCache) -> list[Any]:
        """One for each block."""
        c = self.config
        return [kind(1, c.key_heads, c.context, c.width // c.heads) for _ in range(c.layers)]

    def forward(self, codes: taeda.Tensor, caches: list[Any]) -> taeda.Tensor:
        x, angles = self.tokens(codes), self.angles(caches[0].length, codes.shape[1])
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, angles, cache)
        return self.head(self.norm(x[:, -1]))

    def angles(self, begin: int, count: int) -> taeda.Tensor:
        """How far the points of each position turn, as complex numbers."""
        size = self.config.width // self.config.heads
        turns = self.config.base ** (-taeda.arange(0, size, 2) / size)
        found = taeda.outer(taeda.arange(begin, begin + count).float(), turns)
        return taeda.polar(taeda.ones_like(found), found)


def renamed(name: str) -> str:
    """A name of the file as the model has it."""
    first, *rest = name.split(".")
    if first == "blk":
        return ".".join(("blocks", rest[0], NAMES[rest[1]], rest[2]))
    return ".".join((NAMES[first], *rest))


def model_of(tensors: Any) -> Llama:
    """The model of what `taeda.load` gave; a file without `output` reads its table of tokens there."""
    state = gguf_state_dict({n: t for n, t in tensors.items() if n != "rope_freqs.weight"}, renamed)
    for name in [n for n in state if n.startswith("tokens.") and "output.weight" not in tensors]:
        state[name.replace("tokens", "head", 1)] = state[name]
    for name, value in state.items():
        if value.is_floating_point() and not name.endswith(("scales", "offsets")):
            state[name] = value.float()
    with taeda.device("meta"):  # the file has all parameters: none is drawn before
        model = Llama(Config.of(tensors)).eval()
    return load_quantized_(model, state)


@taeda.no_grad()
def decode(model: Llama, codes: list[int], count: int, cache: type = FloatCache) -> Iterator[int]:
    """The likeliest next token, `count` times."""
    caches = model.caches(cache)
    scores = model(taeda.tensor([codes]), caches)
    for _ in range(count):
        code = scores.argmax(-1, keepdim=True)
        yield int(code)
        scores = model(code, caches)


class Pieces:
    """The pieces of text that a file's codes stand for, in the way of SentencePiece (arXiv:1808.06226)."""

    def __init__(self, facts: dict[str, Any]) -> None:
        if facts.get("tokenizer.ggml.model") != "llama":
            raise ValueError("the file has no pieces of the kind 'llama': give --codes")
        self.pieces, self.scores = facts["tokenizer.ggml.tokens"], facts["tokenizer.ggml.scores"]
        self.codes = {piece: code for code, piece in enumerate(self.pieces)}
        self.begin = facts.get("tokenizer.ggml.bos_token_id", 1)

    def encode(self, text: str) -> list[int]:
        """Neighbours are joined as long as a piece comes of it, the one of the best score first."""
        parts = list("\u2581" + text.replace(" ", "\u2581"))
        while True:
            pairs = [(a + b, i) for i, (a, b) in enumerate(itertools.pairwise(parts))]
            known = [(self.scores[self.codes[p]], -i, p) for p, i in pairs if p in self.codes]
            if not known:
                break
            _, at, piece = max(known)
            parts[-at : 2 - at] = [piece]
        return [self.begin, *(code for part in parts for code in self._of(part))]

    def _of(self, part: str) -> list[int]:
        """The code of a piece, or those of its bytes."""
        if part in self.codes:
            return [self.codes[part]]
        return [self.codes[f"<0x{byte:02X}>"] for byte in part.encode()]

    def decode(self, code: int) -> str:
        """What a code stands for; of a single byte its character, or a mark where it is a part of one."""
        piece = self.pieces[code]
        if piece.startswith("<0x") and len(piece) == 6:
            return bytes([int(piece[3:5], 16)]).decode(errors="replace")
        return piece.replace("\u2581", " ")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", help="a .gguf file")
    parser.add_argument("--prompt", default="Once upon a time")
    parser.add_argument("--codes", type=int, nargs="+", help="of the prompt, in place of its text")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--cache", choices=("float", "int8"), default="float")
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    if given.threads:
        taeda.set_num_threads(given.threads)
    tensors = taeda.load(given.file, mmap=True)
    model = model_of(tensors)
    pieces = None if given.codes else Pieces(tensors.metadata)
    codes = pieces.encode(given.prompt) if pieces else given.codes
    caches = {"float": FloatCache, "int8": Int8Cache}
    begin = time.perf_counter()
    for code in decode(model, codes, given.tokens, caches[given.cache]):
        print(pieces.decode(code) if pieces else f" {code}", end="", flush=True)
    seconds = time.perf_counter() - begin
    print(f"\n{given.tokens} tokens in {seconds:.2f} s, the prompt of {len(codes)} included")


if __name__ == "__main__":
    main()
