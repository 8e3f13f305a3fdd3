"""Layers' part of `python -m taeda`: a small convolutional network learns to tell two kinds of
picture apart.
"""

from __future__ import annotations

from collections.abc import Callable

import taeda

from . import Conv2d, Flatten, Linear, ReLU, Sequential
from . import functional as F

__all__ = ["CHECKS", "FACTS"]


def _training() -> str:
    with taeda.random.fork_rng():
        taeda.manual_seed(0)
        labels = taeda.arange(64) % 2
        x = taeda.randn(64, 1, 8, 8)
        x[labels == 1, :, :, 4:] += 1.0  # one kind is brighter on its right side
        model = Sequential(Conv2d(1, 4, 3), ReLU(), Flatten(), Linear(4 * 36, 2))
    losses = []
    for _ in range(30):
        loss = F.cross_entropy(model(x), labels)
        model.zero_grad()
        loss.backward()
        with taeda.no_grad():
            for p in model.parameters():
                assert p.grad is not None
                p -= 0.2 * p.grad
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0], losses
    return f"loss {losses[0]:.2f} -> {losses[-1]:.2f}"


CHECKS = {"training": _training}
FACTS: dict[str, Callable[[], str]] = {}
