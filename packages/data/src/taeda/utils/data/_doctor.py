"""Data's part of `python -m taeda`: two worker processes bring every sample once, in order."""

from __future__ import annotations

from collections.abc import Callable

import taeda

from . import DataLoader, TensorDataset

__all__ = ["CHECKS", "FACTS"]


def _loading() -> str:
    x = taeda.arange(40.0)
    loader = DataLoader(TensorDataset(x), batch_size=8, num_workers=2)
    found = [value for (batch,) in loader for value in batch.tolist()]
    assert found == x.tolist(), found
    return "2 worker processes"


CHECKS = {"data loading": _loading}
FACTS: dict[str, Callable[[], str]] = {}
