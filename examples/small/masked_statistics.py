"""A table of measurements with gaps, filled by an autoencoder: what is missing counts nowhere, neither in
means and deviations nor in the loss.
"""

from __future__ import annotations

import numpy as np

import taeda
from taeda import nn


def make() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 6))


def table() -> tuple[taeda.Tensor, taeda.Tensor]:
    """(numbers with NaN in a fifth of the places, which are known)."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6))
    numbers = taeda.from_numpy((3 * hidden + 5).astype("float32"))
    known = taeda.from_numpy(rng.random((200, 6)) > 0.2)
    return numbers.masked_fill(~known, float("nan")), known


def train(model: nn.Module, steps: int = 40) -> list[float]:
    numbers, known = table()
    mean = taeda.masked.mean(numbers, 0, mask=known)
    spread = taeda.masked.std(numbers, 0, unbiased=True, mask=known)
    scaled = ((numbers - mean) / spread).masked_fill(~known, 0.0)
    optimizer = taeda.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        # of each row, the mean over what is known of it
        errors = taeda.masked.mean((model(scaled) - scaled).square(), 1, mask=known)
        loss = errors.mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(train(make()))
