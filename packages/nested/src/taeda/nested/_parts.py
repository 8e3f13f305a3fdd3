"""What a nested tensor is made of: the values of all sequences in one tensor, and where each begins."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core

from ._ints import NestedInt, keep_size, size_for

__all__ = ["Jagged", "is_nested", "packed", "packed_offsets", "parts_of"]


class Jagged:
    """Values (sequences packed along dimension `ragged` - 1) and offsets; lengths where there are holes.

    The bounds of the sequences are read from offsets and lengths once: what somebody writes into those
    later does not move them.
    """

    __slots__ = ("_packed", "bounds", "lengths", "offsets", "ragged", "size", "source", "values")
    in_files = "jagged"

    def __init__(
        self,
        values: Tensor,
        offsets: Tensor,
        lengths: Tensor | None,
        ragged: int,
        bounds: Sequence[tuple[int, int]],
        size: NestedInt,
    ) -> None:
        self.values, self.offsets, self.lengths, self.ragged = values, offsets, lengths, ragged
        self.bounds, self.size = tuple(bounds), size
        self.source: Any = None  # what the values are, if a graph knows of that
        self._packed: tuple[int, bool] | None = None  # of so many values, what `is_packed` found

    def like(self, values: Tensor, ragged: int | None = None) -> Jagged:
        """Other values for the same sequences."""
        at = self.ragged if ragged is None else ragged
        made = Jagged(values, self.offsets, self.lengths, at, self.bounds, self.size)
        made._packed = self._packed
        return made

    def on(self, device: Any) -> Jagged:
        """The same sequences, for values that move to this device; their raggedness stays."""
        if taeda.device(device).type == "meta" or self.offsets.device == taeda.device(device):
            return self  # nobody could read them there
        offsets = self.offsets.to(device)
        lengths = None if self.lengths is None else self.lengths.to(device)
        keep_size(offsets, self.size)
        return Jagged(self.values, offsets, lengths, self.ragged, self.bounds, self.size)

    def shape(self) -> tuple[int, ...]:
        """The nested shape, with the ragged size."""
        own = list(self.values.shape)
        own[self.ragged - 1] = self.size
        return (len(self.bounds), *own)

    def is_packed(self) -> bool:
        """Do the sequences follow each other, from the first value to the last?"""
        total, known = self.values.shape[self.ragged - 1], self._packed
        if known is None or known[0] != total:
            ends = [0, *(end for _, end in self.bounds)]
            self._packed = known = (total, ends == [*(start for start, _ in self.bounds), total])
        return known[1]

    def named(self) -> tuple[tuple[str, Tensor], ...]:
        """The strided tensors, by their names."""
        more = () if self.lengths is None else (("lengths", self.lengths),)
        return (("values", self.values), ("offsets", self.offsets), *more)

    def counts(self) -> list[int]:
        """The length of each sequence."""
        return [end - start for start, end in self.bounds]

    def of(self, values: Tensor) -> list[Tensor]:
        """Values of this form as one tensor a sequence: views."""
        at = self.ragged - 1
        return [values.narrow(at, start, end - start) for start, end in self.bounds]

    def numbers(self) -> Tensor:
        """The sequence that each packed value belongs to."""
        counts = taeda.tensor(self.counts(), dtype=taeda.int64)
        made = taeda.repeat_interleave(taeda.arange(len(self.bounds)), counts)
        return made.to(self.values.device)


def packed_offsets(counts: Sequence[int], device: Any) -> tuple[Tensor, list[tuple[int, int]]]:
    """Offsets and bounds of sequences of these lengths, one after the other."""
    ends = [0]
    for count in counts:
        ends.append(ends[-1] + count)
    offsets = taeda.tensor(ends, dtype=taeda.int64, device=device)
    return offsets, list(itertools.pairwise(ends))


def packed(values: Tensor, counts: Sequence[int], ragged: int) -> Jagged:
    """Parts of values whose sequences follow each other; of a raggedness of their own."""
    offsets, bounds = packed_offsets(counts, values.device)
    return Jagged(values, offsets, None, ragged, bounds, size_for(offsets))


def is_nested(x: Any) -> bool:
    """Is `x` a nested tensor?"""
    return isinstance(x, Tensor) and isinstance(core.parts_of(x), Jagged)


def parts_of(x: Tensor) -> Jagged:
    """The parts of a nested tensor."""
    found: Jagged = core.parts_of(x)
    return found
