"""Gradients of a unit's whole parameters, reduced to those of its shards, now or after several backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor

from .._collectives import all_reduce, reduce_scatter_tensor
from .._types import ReduceOp
from ..device_mesh import DeviceMesh
from ._layout import Layout

__all__ = ["Gradients"]


class Gradients:
    """How a unit reduces, and what it holds of backwards that did not."""

    def __init__(self, layout: Layout, mesh: DeviceMesh) -> None:
        self.layout, self.mesh = layout, mesh
        self.sync = self.all_reduces = True
        self.factor: float | None = None  # None: the number of ranks
        self.hook: Callable[[Tensor], None] | None = None
        #: reduces instead: called with the rows of all ranks and this rank's, which becomes the mean
        self.replacement: Callable[[Tensor, Tensor], Any] | None = None
        self.wholes: list[Tensor | None] | None = None  # of backwards that did not synchronise
        self.row: Tensor | None = None  # of those that did so along one dimension of the mesh

    def keep(self, gradients: Sequence[Tensor | None], dtype: taeda.dtype) -> None:
        """Add whole gradients to those that wait, in a dtype."""
        before = self.wholes or [None] * len(gradients)
        self.wholes = [
            old if new is None else new.to(dtype, copy=True) if old is None else old.add_(new)
            for old, new in zip(before, gradients, strict=True)
        ]

    def reduce(
        self, gradients: Sequence[Tensor | None], dtype: taeda.dtype, within: taeda.dtype
    ) -> tuple[list[Tensor], list[bool]] | None:
        """This rank's parts of the mean, and which got a gradient on any rank; None if they wait. They
        travel in the dtype `within`.
        """
        if not self.sync:
            self.keep(gradients, within)
            return None
        if self.wholes is not None:
            self.keep(gradients, within)
            gradients, self.wholes = self.wholes, None
        layout, count = self.layout, len(gradients)
        like = taeda.empty(0, dtype=within)
        rows = layout.rows(gradients, like, count)
        rows[:, layout.length :] = taeda.tensor(
            [float(g is not None) for g in gradients], dtype=within
        )
        row = rows.new_empty(layout.length + count)
        last = self.mesh.ndim - 1
        if self.replacement is not None:
            self.replacement(rows.view(-1), row)
            del rows
            return self._split(row, dtype, count)
        reduce_scatter_tensor(row, rows, ReduceOp.SUM, self.mesh.get_group(last))
        del rows
        if last and not self.all_reduces:
            self.row = row if self.row is None else self.row.add_(row)
            return None
        if self.row is not None:
            row, self.row = row.add_(self.row), None
        if last:
            all_reduce(row, ReduceOp.SUM, self.mesh.get_group(0))
        row[: layout.length] /= self.mesh.size() if self.factor is None else self.factor
        if self.hook is not None:
            self.hook(row[: layout.length])
        return self._split(row, dtype, count)

    def _split(
        self, row: Tensor, dtype: taeda.dtype, count: int
    ) -> tuple[list[Tensor], list[bool]]:
        layout = self.layout
        came = (row[layout.length : layout.length + count] > 0).tolist()
        parts = layout.parts(row.to(dtype), self.mesh.get_local_rank(self.mesh.ndim - 1))
        return parts, came

    @property
    def waiting(self) -> bool:
        """Are there gradients that no shard has yet?"""
        return self.wholes is not None or self.row is not None
