"""Up to where singular values count as 0."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["Tolerance", "cut"]

Tolerance = Tensor | float | None


def _known(value: Tolerance, like: Tensor) -> Tensor | None:
    if value is None:
        return None
    return taeda.as_tensor(value, dtype=like.dtype, device=like.device)


def cut(x: Tensor, sizes: Tensor, atol: Tolerance, rtol: Tolerance) -> Tensor:
    """max(atol, rtol * the largest); rtol is eps * the larger side unless given or atol is."""
    atol, rtol = _known(atol, sizes), _known(rtol, sizes)
    if rtol is None:
        # first the integer, of which a program for any size knows what it is; eps is a power of 2
        rtol = taeda.zeros_like(sizes[..., :1].sum(-1)) + max(x.shape[-2:])
        rtol = rtol * taeda.finfo(x.dtype).eps
        if atol is not None:
            rtol = taeda.where(atol > 0, 0.0, rtol)
    largest = sizes.amax(-1) if sizes.size(-1) else sizes.sum(-1)
    least = rtol * largest
    return least if atol is None else taeda.maximum(least, atol)
