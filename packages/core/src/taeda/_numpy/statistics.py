"""Counting points in the cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor

__all__ = ["_histogramdd"]


def _place(x: Tensor, edges: Tensor) -> Tensor:
    """The bin of every element, -1 or beyond the last for what lies outside; the last edge belongs
    to its bin.
    """
    place = taeda.searchsorted(edges, x, right=True) - 1
    return taeda.where(x == edges[-1], edges.numel() - 2, place)


def _histogramdd(self: Tensor, edges: Sequence[Tensor], weight: Tensor | None) -> Tensor:
    """Points are rows of `self`; those outside the grid, or with a NaN, do not count."""
    shape = [e.numel() - 1 for e in edges]
    cells, inside = None, None
    for d, e in enumerate(edges):
        x = self[:, d].contiguous()
        place = _place(x, e.contiguous())
        ok = (x >= e[0]) & (x <= e[-1])
        cells = place if cells is None else cells * shape[d] + place
        inside = ok if inside is None else inside & ok
    total = taeda.Size(shape).numel()
    if cells is None or inside is None:
        return taeda.zeros(shape, dtype=self.dtype, device=self.device)
    weights = taeda.ones_like(self[:, 0]) if weight is None else weight
    sums = taeda.zeros(total, dtype=self.dtype, device=self.device)
    return sums.index_add_(0, cells[inside], weights[inside]).reshape(shape)
