"""Inputs and masks for tests of functions under a mask, and what each row of the rest gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor

X = taeda.tensor(
    [[0.5, -2.0, 3.0, 1.0], [4.0, 1.5, -6.0, 0.25], [1.0, 2.0, 2.0, -3.0]], dtype=taeda.float64
)
#: a row of which nothing counts stands last
MASK = taeda.tensor([[True, False, True, True], [False, True, True, False], [False] * 4])
DTYPES = (taeda.float64, taeda.float32, taeda.float16, taeda.bfloat16)


def kept_rows(x: Tensor, mask: Tensor) -> Iterator[Tensor]:
    """What counts of each row that has something."""
    for row, own in zip(x, mask, strict=True):
        if own.any():
            yield row[own]


def by_rows(function: Callable[[Tensor], Any], x: Tensor = X, mask: Tensor = MASK) -> Tensor:
    """What a function without a mask gives for what counts of each row that has something."""
    return taeda.stack([taeda.as_tensor(function(row)) for row in kept_rows(x, mask)])
