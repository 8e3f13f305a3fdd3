"""Differences along a dimension."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["diff"]


def diff(self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    """x[i + 1] - x[i], after joining `prepend` and `append`; bools are compared. Not once: a copy."""
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return self.clone()
    parts = [t for t in (prepend, self, append) if t is not None]
    for part in parts:
        if part.dim() != self.dim():
            raise RuntimeError(
                "diff expects prepend or append to be the same dimension as input, got "
                f"{part.dim()} and {self.dim()}"
            )
    x = taeda.cat(parts, dim) if len(parts) > 1 else self
    for _ in range(min(n, x.size(dim))):  # then nothing is left to subtract
        size = max(x.size(dim) - 1, 0)
        later, earlier = x.narrow(dim, min(1, x.size(dim)), size), x.narrow(dim, 0, size)
        x = taeda.logical_xor(later, earlier) if x.dtype == taeda.bool else later - earlier
    return x.clone() if x is self else x
