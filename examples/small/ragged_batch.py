"""Sequences of different lengths sorted by their sums, in a nested batch: no padding is stored or computed,
and each sequence attends to itself.
"""

from __future__ import annotations

import numpy as np

import taeda
import taeda.nn.functional as F
from taeda import nn


class Reader(nn.Module):
    def __init__(self, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.embed = nn.Linear(1, width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        x = self.embed(x)
        parts = [
            layer(x).unflatten(-1, [self.heads, -1]).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        ]
        seen = F.scaled_dot_product_attention(*parts).transpose(1, 2).flatten(2)
        # sum(1) says the same here; torch has no gradient of it
        return self.head(taeda.stack([one.sum(0) for one in (x + seen).unbind()]))


def make() -> nn.Module:
    return Reader()


def train(model: nn.Module, steps: int = 30) -> list[float]:
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(n, 1)).astype("float32") for n in rng.integers(3, 20, 32)]
    batch = taeda.nested.nested_tensor([taeda.from_numpy(r) for r in rows], layout=taeda.jagged)
    labels = taeda.tensor([int(r.sum() > 0) for r in rows])
    optimizer = taeda.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(train(make()))
