"""How the parameters of a unit lie in the buffers of its two collectives.

A buffer has a row for each rank; a row has a place for that rank's rows of every parameter, in the
size of the largest part, so that all rows are equally long. Places that a rank does not fill are 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor

from ..tensor.placement_types import chunk_of

__all__ = ["Layout"]


class Layout:
    """Places of parameters of these shapes, cut along dimension 0 for some ranks."""

    def __init__(self, shapes: Sequence[taeda.Size], ranks: int) -> None:
        self.shapes, self.ranks = list(shapes), ranks
        self.inner = [math.prod(shape[1:]) for shape in shapes]
        sizes = [
            -(-shape[0] // ranks) * inner for shape, inner in zip(shapes, self.inner, strict=True)
        ]
        self.begins = [sum(sizes[:number]) for number in range(len(sizes))]
        self.length = sum(sizes)

    def part(self, number: int, rank: int) -> tuple[int, int]:
        """Where a rank's part of a parameter begins in its rows, and how many they are."""
        return chunk_of(self.shapes[number][0], self.ranks, rank)

    def row(self, parts: Sequence[Tensor], device: taeda.device | None = None) -> Tensor:
        """One rank's row, from its parts; on `device`, or where they are."""
        made = parts[0].new_zeros(self.length, device=device)
        for begin, part in zip(self.begins, parts, strict=True):
            made[begin : begin + part.numel()] = part.reshape(-1)
        return made

    def wholes(self, rows: Tensor) -> list[Tensor]:
        """All parameters, from the rows of all ranks. Each has memory of its own."""
        made = []
        for number, shape in enumerate(self.shapes):
            whole = rows.new_empty(shape)
            flat, begin = whole.view(-1), self.begins[number]
            for rank in range(self.ranks):
                first, count = self.part(number, rank)
                if size := count * self.inner[number]:
                    start = first * self.inner[number]
                    flat[start : start + size] = rows[rank, begin : begin + size]
            made.append(whole)
        return made

    def rows(self, wholes: Sequence[Tensor | None], like: Tensor, more: int) -> Tensor:
        """The rows of all ranks, from whole tensors (None is 0), with room for `more` numbers behind each."""
        made = like.new_zeros(self.ranks, self.length + more)
        for number, whole in enumerate(wholes):
            if whole is None:
                continue
            flat, begin = whole.reshape(-1), self.begins[number]
            for rank in range(self.ranks):
                first, count = self.part(number, rank)
                start, size = first * self.inner[number], count * self.inner[number]
                made[rank, begin : begin + size] = flat[start : start + size]
        return made

    def parts(self, row: Tensor, rank: int) -> list[Tensor]:
        """A rank's parts, from its row. Each has memory of its own."""
        made = []
        for number, shape in enumerate(self.shapes):
            begin, count = self.begins[number], self.part(number, rank)[1]
            size = count * self.inner[number]
            made.append(row[begin : begin + size].view(count, *shape[1:]).clone())
        return made
