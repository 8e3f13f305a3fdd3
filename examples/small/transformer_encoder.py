"""Sentences of different lengths put into classes by a TransformerEncoder with a padding mask."""

from __future__ import annotations

import numpy as np

import taeda
from taeda import nn


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 16, padding_idx=0)
        layer = nn.TransformerEncoderLayer(
            16, 4, 32, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        empty = x == 0
        y = self.encoder(self.words(x), src_key_padding_mask=empty)
        mean = y.masked_fill(empty[..., None], 0).sum(1) / (~empty).sum(1, keepdim=True)
        return self.head(mean)


def make() -> nn.Module:
    return Classifier()


def train(model: nn.Module, steps: int = 20) -> list[float]:
    rng = np.random.default_rng(0)
    x = rng.integers(1, 20, (48, 10))
    for row, length in zip(x, rng.integers(2, 11, 48), strict=True):
        row[length:] = 0
    labels = taeda.from_numpy((x == 7).any(1).astype("int64"))
    x = taeda.from_numpy(x)
    optimizer = taeda.optim.Adam(model.parameters(), lr=3e-3)
    warm = taeda.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=5)
    rest = taeda.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=15)
    schedule = taeda.optim.lr_scheduler.SequentialLR(optimizer, [warm, rest], milestones=[5])
    criterion = nn.CrossEntropyLoss(weight=taeda.tensor([1.0, 2.0]))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = criterion(model(x), labels)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return [*losses, schedule.get_last_lr()[0]]


if __name__ == "__main__":
    print(train(make()))
