"""Sums inside one machine, over memory that its ranks share, in the order of ranks.

The order is fixed, so every rank gets the same bits, with any number of threads. Memory is without
a name (memfd); others map it by /proc. The adding itself is core's own kernels, a block at a time,
so that a block stays in the cache.

Few values come along to the meeting (`brought`), and every rank adds up all of them: one wait
instead of three. Many values pass through a window, a half at a time. Values that lie in a window
already are added up where they are.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass

import taeda
from taeda import Tensor

from .._meeting.board import LITTLE, open_foreign
from .._meeting.mates import Mates
from .._types import RedOpType, ReduceOp
from .._waiting import Deadline
from .kernels import NARROW, Kernel, divide, kernel_of

__all__ = ["BRING", "HALF", "Windows", "can_bring"]

HALF = 4 << 20  # bytes of one of the two halves through which tensors pass that lie elsewhere
BRING = 2 << 20  # bytes that a rank may bring along once there is a window for them
ALL_ADD = 3  # ranks up to which each adds up everything: more memory is read, one wait less
BLOCK = 128 << 10  # bytes that are added up at a time
KEPT = 256  # views of little room that are kept: to make them takes longer than such a sum


def can_bring(tensor: Tensor, op: ReduceOp | None) -> bool:
    """May the values of `tensor` come along to the meeting, to be added up there if there is an `op`?"""
    if op is None:
        return 0 < tensor.nbytes <= LITTLE
    if op.op is RedOpType.PREMUL_SUM:  # multiplied only after all have agreed
        return False
    return 0 < tensor.nbytes <= BRING


@dataclass
class _Window:
    """Memory of the same size on every rank: `parts[rank]` is that rank's, as uint8."""

    parts: list[Tensor]
    start: int
    end: int

    def views(self, offset: int, like: Tensor) -> list[Tensor]:
        """As many values of every rank as `like` has, from a byte on."""
        end = offset + like.numel() * like.element_size()
        return [part[offset:end].view(like.dtype) for part in self.parts]


class Windows:
    """The windows of the ranks of a group that share a machine."""

    def __init__(self, mates: Mates) -> None:
        self.mates = mates
        self._rank, self._size = mates.rank, mates.size
        self._through: _Window | None = None
        self._bring: _Window | None = None
        self._own: list[_Window] = []
        self._little: dict[tuple[taeda.dtype, int, int], list[Tensor]] = {}

    def allocate(self, nbytes: int, deadline: Deadline) -> Tensor:
        """Memory of this rank that the others can reach. All ranks call it in the same collective."""
        window = self._make(nbytes, deadline)
        self._own.append(window)
        return window.parts[self._rank]

    def _make(self, nbytes: int, deadline: Deadline) -> _Window:
        mates = self.mates
        nbytes = -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
        mine = os.memfd_create("taeda-window")
        # here, not in the middle of a sum, shows itself that memory is short
        os.posix_fallocate(mine, 0, nbytes)
        mates.board.offer(mine)
        mates.meet(deadline, False)
        maps = []
        for rank in range(self._size):
            if rank == self._rank:
                maps.append(mmap.mmap(mine, nbytes))
                continue
            descriptor = open_foreign(mates.pids[rank], mates.board.offered(rank))
            maps.append(mmap.mmap(descriptor, nbytes))
            os.close(descriptor)
        mates.meet(deadline, False)
        os.close(mine)  # the maps keep the memory
        parts = [taeda.frombuffer(memory, dtype=taeda.uint8) for memory in maps]
        start = parts[self._rank].data_ptr()
        return _Window(parts, start, start + nbytes)

    # ---- what comes along to the meeting ----

    def bring(self, values: Tensor, seq: int) -> list[Tensor] | None:
        """Lay the values where the others find them after the meeting of collective `seq`, and
        return where those of all ranks lie then; None if there is no room.

        Two places take turns: who writes into one again has met all others since, so they have read it.
        """
        parts = self._places(values, seq)
        if parts is not None:
            parts[self._rank].copy_(values)
        return parts

    def _places(self, like: Tensor, seq: int) -> list[Tensor] | None:
        nbytes = like.nbytes
        if nbytes > LITTLE:
            window = self._bring
            return window.views((seq % 2) * BRING, like) if window is not None else None
        key = like.dtype, nbytes, seq % 2
        if (kept := self._little.get(key)) is None:
            if len(self._little) >= KEPT:
                self._little.clear()
            board = self.mates.board
            ranks = range(self._size)
            kept = [board.little(rank, seq, nbytes).view(like.dtype) for rank in ranks]
            self._little[key] = kept
        return kept

    def add_brought(self, parts: list[Tensor], into: Tensor, op: ReduceOp, by: int = 1) -> None:
        """What all ranks brought along, as `bring` told, divided by `by`."""
        self._add(parts, 0, into.numel(), [into], kernel_of(op, into.dtype), by)

    # ---- sums ----

    def place(self, tensor: Tensor) -> int:
        """Where a flat tensor lies: number of the window and byte in it, or 0 outside."""
        if not self._own:
            return 0
        at, nbytes = tensor.data_ptr(), tensor.numel() * tensor.element_size()
        for number, window in enumerate(self._own, 1):
            if window.start <= at and at + nbytes <= window.end:
                return (number << 44) + at - window.start
        return 0

    def shared(self, tensor: Tensor) -> list[Tensor] | None:
        """The corresponding values of all ranks, if this tensor lies in a window, and theirs at the
        same place.

        Every rank has said by `lie` where its tensor is, so all come to the same answer.
        """
        place = self.place(tensor)
        if not place or not self.mates.board.lie_alike(place):
            return None
        return self._own[(place >> 44) - 1].views(place & ((1 << 44) - 1), tensor)

    def all_reduce(
        self, tensor: Tensor, op: ReduceOp, deadline: Deadline, patient: bool, by: int = 1
    ) -> None:
        """`tensor` is flat and contiguous; every rank came with one of the same length.
        What is added up is divided by `by`.
        """
        kernel = kernel_of(op, tensor.dtype)
        if (parts := self.shared(tensor)) is not None:
            self.add_up(parts, parts, kernel, deadline, patient, by)
            return
        for parts, chunk in self.passing(tensor, deadline, patient):
            if self._size <= ALL_ADD:
                self._add(parts, 0, chunk.numel(), [chunk], kernel, by)
                continue
            self.add_up(parts, [parts[self._rank]], kernel, deadline, patient, by)
            for rank in range(self._size):
                start, stop = self._share(rank, chunk.numel())
                chunk[start:stop].copy_(parts[rank][start:stop])

    def passing(
        self, tensor: Tensor, deadline: Deadline, patient: bool
    ) -> Iterator[tuple[list[Tensor], Tensor]]:
        """The values of all ranks, half a window at a time, and the piece of `tensor` that they belong to.

        One half is filled while slower ranks still read the other.
        """
        window = self._made(deadline)
        step = HALF // tensor.element_size()
        for number, begin in enumerate(range(0, tensor.numel(), step)):
            chunk = tensor[begin : begin + step]
            parts = window.views((number % 2) * HALF, chunk)
            parts[self._rank].copy_(chunk)
            self.mates.meet(deadline, patient)
            yield parts, chunk

    def pieces(
        self, tensor: Tensor, there: list[Tensor] | None, deadline: Deadline, patient: bool
    ) -> Iterator[tuple[list[Tensor], Tensor]]:
        """As `passing`, in pieces of the same length also where the values are `there` already."""
        if there is None:
            yield from self.passing(tensor, deadline, patient)
            return
        step = HALF // tensor.element_size()
        for begin in range(0, tensor.numel(), step):
            end = begin + step
            yield [part[begin:end] for part in there], tensor[begin:end]

    def _made(self, deadline: Deadline) -> _Window:
        """The window that tensors pass through. With it comes the room for what ranks bring along."""
        if self._through is None:
            self._through = self._make(2 * HALF, deadline)
            self._bring = self._make(2 * BRING, deadline)
        return self._through

    def add_up(
        self,
        parts: list[Tensor],
        into: list[Tensor],
        kernel: Kernel,
        deadline: Deadline,
        patient: bool,
        by: int = 1,
    ) -> None:
        """Every rank adds up its share of `parts`, and all have when it returns."""
        self._add(parts, *self._share(self._rank, parts[0].numel()), into, kernel, by)
        self.mates.meet(deadline, patient)

    def _share(self, rank: int, numel: int) -> tuple[int, int]:
        """The part of `numel` values that `rank` adds up; parts begin at multiples of 64."""
        each = -(-numel // (64 * self._size)) * 64
        return min(rank * each, numel), min((rank + 1) * each, numel)

    def _add(
        self,
        parts: list[Tensor],
        start: int,
        stop: int,
        into: list[Tensor],
        kernel: Kernel,
        by: int,
    ) -> None:
        """Values start to stop of all `parts`, in the order of ranks and divided by `by`, into each
        of `into`.
        """
        if len(parts) == 2 and len(into) == 1 and parts[0].dtype not in NARROW:
            if stop - start < parts[0].numel():
                parts, into = [p[start:stop] for p in parts], [into[0][start:stop]]
            kernel(parts[0], parts[1], out=into[0])
            divide(into[0], by)
            return
        narrow = parts[0].dtype in NARROW
        step = BLOCK // parts[0].element_size()
        dtype = taeda.float32 if narrow else parts[0].dtype
        total = taeda.empty(min(step, max(stop - start, 0)), dtype=dtype)
        for begin in range(start, stop, step):
            block = slice(begin, min(begin + step, stop))
            sums = total[: block.stop - begin]
            first = parts[0][block]
            kernel(first.float() if narrow else first, parts[1][block], out=sums)
            for part in parts[2:]:
                kernel(sums, part[block], out=sums)
            sums = sums.to(parts[0].dtype)  # rounded once, and then divided
            divide(sums, by)
            for target in into:
                target[block].copy_(sums)

    def close(self) -> None:
        """Forget the windows; memory that tensors still use stays."""
        self._through, self._bring, self._own = None, None, []
        self._little.clear()
