"""Random operators that are written in terms of other operators."""

from __future__ import annotations

import taeda
from taeda import Tensor


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero elements with probability p and scale the rest; the tensor itself unless `train`."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not train or p == 0 or input.numel() == 0:
        return input
    return taeda.native_dropout(input, p, True)[0]
