"""Sums of rows of a table over bags on a CUDA device, by the device's own rows: gathered, and added in
the order of their places, so the processor's bits. Waits for the device to look at the edges.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["ROWS"]


def _check(edges: list[int], places: int) -> None:
    for k, edge in enumerate(edges):
        if not (edges[k - 1] if k else 0) <= edge <= places:
            raise RuntimeError(
                f"_bag_sums: edges rise from 0 or more to {places}, the number of places, got {edge} at {k}"
            )


def bag_sums(weight: Tensor, indices: Tensor, edges: Tensor) -> Tensor:
    """Bag k has the indices from edges[k] to before edges[k + 1]."""
    bounds = edges.tolist()
    _check(bounds, len(indices))
    bags = taeda.arange(len(bounds) - 1, device=weight.device)
    of = bags.repeat_interleave(edges.diff())
    rows = weight.index_select(0, indices[bounds[0] : bounds[-1]])
    sums = taeda.zeros(len(bags), weight.size(1), dtype=weight.dtype, device=weight.device)
    return sums.index_add_(0, of, rows)


ROWS = {"_bag_sums": bag_sums}
