"""A character-level GPT learns the nineteen aphorisms that every Python carries, and then writes some.

Written as one writes it for torch: replace the word `taeda` and it runs there, with the same curve of losses.
The batches are drawn by Python's own generator, so that they are the same in both.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import io
import math
import random
from dataclasses import dataclass

import taeda
import taeda.nn.functional as F
from taeda import nn

with contextlib.redirect_stdout(io.StringIO()):  # it prints itself when imported
    import this

TEXT = codecs.decode(this.s, "rot13")
ALPHABET = sorted(set(TEXT))
CODES = taeda.tensor([ALPHABET.index(character) for character in TEXT])


@dataclass
class Config:
    vocabulary: int = len(ALPHABET)
    context: int = 64
    layers: int = 3
    heads: int = 4
    width: int = 96
    dropout: float = 0.0


class Attention(nn.Module):
    """Causal self-attention; one linear layer makes queries, keys and values."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.heads
        self.dropout = config.dropout
        self.inputs = nn.Linear(config.width, 3 * config.width)
        self.output = nn.Linear(config.width, config.width)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        batch, length, width = x.shape
        parts = self.inputs(x).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        return self.output(y.transpose(1, 2).contiguous().view(batch, length, width))


class Block(nn.Module):
    """Attention and a two-layer network, each behind a norm and beside a shortcut."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.norm2 = nn.LayerNorm(config.width)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, 4 * config.width),
            nn.GELU(),
            nn.Linear(4 * config.width, config.width),
            nn.Dropout(config.dropout),
        )

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        x = x + self.attention(self.norm1(x))
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
        self.apply(self._init)
        for name, parameter in self.named_parameters():
            if name.endswith("output.weight"):  # the shortcuts add up: keep their sum small
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * config.layers))
        self.tokens.weight = self.head.weight

    def _init(self, module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(
        self, codes: taeda.Tensor, targets: taeda.Tensor | None = None
    ) -> tuple[taeda.Tensor, taeda.Tensor | None]:
        x = self.tokens(codes) + self.positions(taeda.arange(codes.shape[1], device=codes.device))
        for block in self.blocks:
            x = block(x)
        scores = self.head(self.norm(x))
        if targets is None:
            return scores, None
        return scores, F.cross_entropy(scores.flatten(0, 1), targets.flatten())

    @taeda.no_grad()
    def write(self, codes: taeda.Tensor, count: int, temperature: float = 0.8) -> taeda.Tensor:
        """Continue each row of `codes` by `count` tokens drawn at random."""
        self.eval()
        for _ in range(count):
            scores, _ = self(codes[:, -self.config.context :])
            weights = F.softmax(scores[:, -1] / temperature, dim=-1)
            codes = taeda.cat([codes, taeda.multinomial(weights, num_samples=1)], dim=1)
        return codes


def batches(config: Config, size: int, seed: int):
    """Endless pairs of texts and the same texts one character on."""
    draw = random.Random(seed)
    while True:
        starts = [draw.randrange(len(CODES) - config.context) for _ in range(size)]
        rows = taeda.stack([CODES[i : i + config.context + 1] for i in starts])
        yield rows[:, :-1], rows[:, 1:]


def optimizer_for(model: GPT, lr: float) -> taeda.optim.Optimizer:
    """AdamW that lets matrices decay, and neither biases nor norms."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": 0.1},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    return taeda.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95))


def train(model: GPT, steps: int, size: int = 16, lr: float = 3e-3, seed: int = 0) -> list[float]:
    """Train for `steps` batches, on the model's device, and return their losses."""
    device = model.head.weight.device
    optimizer = optimizer_for(model, lr)
    warm = max(1, steps // 20)
    schedule = taeda.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm, 0.1 + 0.45 * (1 + math.cos(math.pi * step / steps))),
    )
    losses = []
    model.train()
    for _, (x, y) in zip(range(steps), batches(model.config, size, seed), strict=False):
        _, loss = model(x.to(device), y.to(device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description="A character-level GPT.")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--letters", type=int, default=200, help="to write after the training")
    parser.add_argument("--device", default="cpu", help="where the model lives: cpu, cuda, cuda:1")
    options = parser.parse_args()
    taeda.manual_seed(options.seed)
    model = GPT(Config()).to(options.device)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(TEXT)} characters")
    losses = train(model, options.steps)
    for step in range(0, options.steps, max(1, options.steps // 10)):
        print(f"step {step:4}  loss {losses[step]:.4f}")
    print(f"step {options.steps - 1:4}  loss {losses[-1]:.4f}")
    start = taeda.tensor([[ALPHABET.index("\n")]], device=options.device)
    print("".join(ALPHABET[code] for code in model.write(start, options.letters)[0].tolist()))


if __name__ == "__main__":
    main()
