"""A decoder-only transformer with tied weights, and greedy sampling from it."""

from __future__ import annotations

import math

import taeda
import taeda.nn.functional as F
from taeda import nn

TEXT = "the cone falls near the trunk and the trunk stays where the cone falls. "


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, letters: int, width: int = 32, context: int = 24) -> None:
        super().__init__()
        self.context = context
        self.token = nn.Embedding(letters, width)
        self.place = nn.Parameter(taeda.zeros(context, width))
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, letters, bias=False)
        self.head.weight = self.token.weight
        self.apply(self._begin)

    def _begin(self, module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=1 / math.sqrt(32))

    def forward(self, x):
        y = self.token(x) + self.place[: x.size(1)]
        for block in self.blocks:
            y = block(y)
        return self.head(self.norm(y))

    @taeda.no_grad()
    def continued(self, x, count: int):
        for _ in range(count):
            x = taeda.cat([x, self(x[:, -self.context :])[:, -1].argmax(-1, keepdim=True)], dim=1)
        return x


LETTERS = sorted(set(TEXT))


def make() -> nn.Module:
    return GPT(len(LETTERS))


def train(model: nn.Module, steps: int = 30) -> list[float]:
    codes = taeda.tensor([LETTERS.index(c) for c in TEXT])
    windows = codes.unfold(0, model.context + 1, 4)
    weights = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": weights, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = taeda.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95))
    losses = []
    for _ in range(steps):
        logits = model(windows[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    made = model.eval().continued(codes[None, :4], 30)
    return [*losses, float(made.shape[1])]


if __name__ == "__main__":
    print(train(make()))
