"""Places of compressed matrices, where they have kernels of their own and elsewhere."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["has_kernels", "row_numbers", "turned"]


def has_kernels(x: Tensor) -> bool:
    """Are products and turns of compressed rows kernels there? Elsewhere they are made of indexing."""
    return x.device.type in ("cpu", "meta")


def row_numbers(crow: Tensor, count: int | None = None) -> Tensor:
    """The row of each of `count` entries; a device that is not told waits to learn how many there are."""
    rows = taeda.arange(crow.numel() - 1, device=crow.device)
    return rows.repeat_interleave(crow.diff().long(), output_size=count)


def turned(compressed: Tensor, plain: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The places by columns, of which there are `count`: offsets, rows, and where each entry stood before."""
    if has_kernels(plain):
        return taeda._csr_transpose(compressed, plain, count)
    columns = plain.long()
    order = columns.argsort(stable=True)
    ends = columns.new_zeros(count + 1).index_add(0, columns + 1, taeda.ones_like(columns))
    rows = row_numbers(compressed, plain.numel())[order]
    return ends.cumsum(0), rows, order
