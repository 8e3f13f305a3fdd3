"""A curve with noise, fitted by a multi-layer perceptron; the best weights on held-out points are kept."""

from __future__ import annotations

import copy

import numpy as np

import taeda
from taeda import nn


def make() -> nn.Module:
    return nn.Sequential(
        nn.Linear(1, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1)
    )


def train(model: nn.Module, steps: int = 60) -> list[float]:
    rng = np.random.default_rng(0)
    x = taeda.from_numpy(rng.uniform(-2, 2, (256, 1)).astype("float32"))
    y = taeda.sin(2 * x) + 0.05 * taeda.from_numpy(rng.normal(size=(256, 1)).astype("float32"))
    optimizer = taeda.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-3)
    criterion = nn.HuberLoss()
    losses, best = [], (float("inf"), model.state_dict())
    for _ in range(steps):
        optimizer.zero_grad()
        loss = criterion(model(x[:192]), y[:192])
        loss.backward()
        optimizer.step()
        with taeda.no_grad():
            held_out = criterion(model(x[192:]), y[192:]).item()
        if held_out < best[0]:
            best = held_out, copy.deepcopy(model.state_dict())
        losses.append(loss.item())
    model.load_state_dict(best[1])
    return [*losses, best[0]]


if __name__ == "__main__":
    print(train(make()))
