"""Points of one group are brought near each other by one network that is used three times."""

from __future__ import annotations

import numpy as np

import taeda
import taeda.nn.functional as F
from taeda import nn


def make() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 24), nn.Hardswish(), nn.Linear(24, 4))


def train(model: nn.Module, steps: int = 40) -> list[float]:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(5, 6))
    criterion = nn.TripletMarginLoss(margin=0.5)
    optimizer = taeda.optim.Adagrad(model.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        one, other = rng.permutation(5)[:2]
        points = [
            taeda.tensor(centres[group] + 0.2 * rng.normal(size=(16, 6)), dtype=taeda.float32)
            for group in (one, one, other)
        ]
        anchor, near, far = (F.normalize(model(p), dim=1) for p in points)
        loss = criterion(anchor, near, far) + 0.1 * F.cosine_similarity(anchor, far).relu().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(train(make()))
