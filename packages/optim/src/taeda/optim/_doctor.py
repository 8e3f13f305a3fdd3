"""Optim's part of `python -m taeda`: a step by its formula, and a small problem that gets solved."""

from __future__ import annotations

from collections.abc import Callable

import taeda

from . import SGD, Adam

__all__ = ["CHECKS", "FACTS"]


def _steps() -> str:
    x = taeda.tensor([1.0, -2.0], requires_grad=True)
    (x * x).sum().backward()
    SGD([x], lr=0.25).step()
    assert x.tolist() == [0.5, -1.0], x
    optimizer = Adam([x], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = (x - taeda.tensor([3.0, 4.0])).square().sum()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-3, f"Adam ends at a loss of {loss.item()}"
    return f"SGD exact, Adam to a loss of {loss.item():.0e}"


CHECKS = {"optimizers": _steps}
FACTS: dict[str, Callable[[], str]] = {}
