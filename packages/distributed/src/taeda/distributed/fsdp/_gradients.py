"""Gradients of a unit's whole parameters, reduced to those of its shards, now or after several backwards."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor

from .._collectives import all_reduce, reduce_scatter_tensor
from .._types import ReduceOp
from ..device_mesh import DeviceMesh
from ._lanes import Lanes
from ._layout import Layout

__all__ = ["Gradients"]


class Gradients:
    """How a unit reduces, and what it holds of backwards that did not."""

    def __init__(self, layout: Layout, mesh: DeviceMesh, lanes: Lanes | None = None) -> None:
        self.layout, self.mesh, self.lanes = layout, mesh, lanes
        self.sync = self.all_reduces = True
        self.factor: float | None = None  # None: the number of ranks
        self.hook: Callable[[Tensor], None] | None = None
        self.hook_stream: Any = None  # of a device
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
        self,
        gradients: Sequence[Tensor | None],
        dtype: taeda.dtype,
        within: taeda.dtype,
        trained: Sequence[bool],
    ) -> tuple[list[Tensor], list[bool]] | None:
        """This rank's parts of the mean, and which of the `trained` parameters got a gradient on any rank;
        None if they wait. They travel in the dtype `within`. With lanes the parts may still be on their way.
        """
        if not self.sync:
            self.keep(gradients, within)
            return None
        if self.wholes is not None:
            self.keep(gradients, within)
            gradients, self.wholes = self.wholes, None
        if self.lanes is not None:
            self.lanes.make_room()
        here = [gradient is not None for gradient in gradients]
        rows = self._rows(gradients, here, within)
        with contextlib.nullcontext() if self.lanes is None else self.lanes.reducing(rows):
            row = self._reduced(rows, len(here))
            return None if row is None else self._split(row, dtype, here, trained)

    def _rows(
        self, gradients: Sequence[Tensor | None], here: Sequence[bool], within: taeda.dtype
    ) -> Tensor:
        """The rows of all ranks, and behind each which gradients this rank has."""
        device = "cpu" if self.lanes is None else self.lanes.device
        like = taeda.empty(0, dtype=within, device=device)
        rows = self.layout.rows(gradients, like, len(here))
        told = rows[:, self.layout.length :]
        if all(here):
            told.fill_(1)
        else:
            told.copy_(taeda.tensor([float(one) for one in here], dtype=within))
        return rows

    def _reduced(self, rows: Tensor, count: int) -> Tensor | None:
        """This rank's row of the mean; None where sums of replicas wait."""
        layout, last = self.layout, self.mesh.ndim - 1
        row = rows.new_empty(layout.length + count)
        if self.replacement is not None:
            self.replacement(rows.view(-1), row)
            return row
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
            with self._hooking():
                self.hook(row[: layout.length])
        return row

    def _hooking(self) -> Any:
        return (
            contextlib.nullcontext() if self.lanes is None else self.lanes.hooking(self.hook_stream)
        )

    def _split(
        self, row: Tensor, dtype: taeda.dtype, here: Sequence[bool], trained: Sequence[bool]
    ) -> tuple[list[Tensor], list[bool]]:
        layout, came = self.layout, list(here)
        if any(wanted and not given for given, wanted in zip(here, trained, strict=True)):
            # another rank may have what this one lacks; a device waits for the answer
            came = (row[layout.length : layout.length + len(came)] > 0).tolist()
        parts = layout.parts(row.to(dtype), self.mesh.get_local_rank(self.mesh.ndim - 1))
        if self.lanes is not None:
            self.lanes.hand_out(parts)
        return parts, came

    @property
    def waiting(self) -> bool:
        """Are there gradients that no shard has yet?"""
        return self.wholes is not None or self.row is not None
