"""Sums inside one machine: every rank adds up its share over the memory of all ranks, in the order of ranks.

The order is fixed, so every rank gets the same bits, with any number of threads. Memory is without a name (memfd);
others map it by /proc. The adding itself is core's own kernels, a block at a time, so that a block stays in the cache.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass

import taeda
from taeda import Tensor

from ._arriving import Arrivals
from ._board import LITTLE, open_foreign
from ._types import RedOpType, ReduceOp
from ._waiting import Deadline, wait_until

__all__ = ["Windows", "add_brought", "can_bring"]

HALF = 4 << 20  # bytes of one of the two halves through which tensors pass that lie elsewhere
BLOCK = 128 << 10  # bytes that are added up at a time
_NARROW = (taeda.float16, taeda.bfloat16)

_KERNELS: dict[RedOpType, Callable[..., Tensor]] = {
    RedOpType.SUM: taeda.add,
    RedOpType.AVG: taeda.add,
    RedOpType.PREMUL_SUM: taeda.add,
    RedOpType.PRODUCT: taeda.mul,
    RedOpType.MIN: taeda.minimum,
    RedOpType.MAX: taeda.maximum,
}


def can_bring(tensor: Tensor, op: ReduceOp) -> bool:
    """May the values of `tensor` come along to the meeting and be added up there?"""
    dtype = tensor.dtype
    few = 0 < tensor.numel() * tensor.element_size() <= LITTLE
    if op.op is RedOpType.PREMUL_SUM:  # multiplied only after all have agreed
        return False
    return few and op.op in _KERNELS and dtype is not taeda.bool and not dtype.is_complex


def add_brought(parts: list[Tensor], into: Tensor, op: ReduceOp) -> None:
    """What all ranks brought along, in their order."""
    kernel = _KERNELS[op.op]
    total = parts[0].float() if into.dtype in _NARROW else parts[0]
    for part in parts[1:]:
        total = kernel(total, part)
    into.copy_(total)


@dataclass
class _Window:
    """Memory of the same size on every rank: `parts[rank]` is that rank's, as uint8."""

    parts: list[Tensor]
    start: int
    end: int


class Windows:
    """The windows of a group on one machine."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals, self._rank, self._size = arrivals, arrivals.rank, arrivals.size
        self.usable = arrivals.board is not None and arrivals.size > 1
        self._through: _Window | None = None
        self._own: list[_Window] = []

    def can(self, tensor: Tensor, op: ReduceOp) -> bool:
        """Is this kind of sum done here?"""
        fits = tensor.dtype is not taeda.bool and not tensor.dtype.is_complex
        return self.usable and op.op in _KERNELS and fits

    def allocate(self, nbytes: int, deadline: Deadline) -> Tensor:
        """Memory of this rank that the others can reach. All ranks call it in the same collective."""
        window = self._make(nbytes, deadline)
        self._own.append(window)
        return window.parts[self._rank]

    def _make(self, nbytes: int, deadline: Deadline) -> _Window:
        board = self._arrivals.board
        assert board is not None
        nbytes = -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
        mine = os.memfd_create("taeda-window")
        os.posix_fallocate(
            mine, 0, nbytes
        )  # here, not in the middle of a sum, shows itself that memory is short
        board.offer(mine)
        self._meet(deadline, False)
        maps = []
        for rank in range(self._size):
            if rank == self._rank:
                maps.append(mmap.mmap(mine, nbytes))
                continue
            descriptor = open_foreign(self._arrivals.facts[rank].pid, board.offered(rank))
            maps.append(mmap.mmap(descriptor, nbytes))
            os.close(descriptor)
        self._meet(deadline, False)
        os.close(mine)  # the maps keep the memory
        parts = [taeda.frombuffer(memory, dtype=taeda.uint8) for memory in maps]
        start = parts[self._rank].data_ptr()
        return _Window(parts, start, start + nbytes)

    def _meet(self, deadline: Deadline, patient: bool) -> None:
        """A barrier inside a collective."""
        board = self._arrivals.board
        assert board is not None
        turn = board.next_barrier()
        if not wait_until(lambda: board.passed(turn), deadline, self._arrivals.look, patient):
            raise self._arrivals.late(deadline)

    # ---- sums ----

    def all_reduce(self, tensor: Tensor, op: ReduceOp, deadline: Deadline, patient: bool) -> None:
        """`tensor` is flat and contiguous; every rank came with one of the same length."""
        kernel = _KERNELS[op.op]
        at = tensor.data_ptr()
        nbytes = tensor.numel() * tensor.element_size()
        for window in self._own:
            if window.start <= at and at + nbytes <= window.end:
                self._in_place(tensor, window, at - window.start, kernel, deadline, patient)
                return
        self._passing(tensor, kernel, deadline, patient)

    def _in_place(
        self, tensor: Tensor, window: _Window, offset: int, kernel: Callable[..., Tensor],
        deadline: Deadline, patient: bool,
    ) -> None:  # fmt: skip
        end = offset + tensor.numel() * tensor.element_size()
        parts = [part[offset:end].view(tensor.dtype) for part in window.parts]
        start, stop = self._share(self._rank, tensor.numel())
        self._add(parts, start, stop, parts, kernel)
        self._meet(deadline, patient)

    def _passing(
        self, tensor: Tensor, kernel: Callable[..., Tensor], deadline: Deadline, patient: bool
    ) -> None:
        """Copy in, add, copy out, a half at a time: one half is filled while slower ranks still read the other."""
        if self._through is None:
            self._through = self._make(2 * HALF, deadline)
        window = self._through
        step = HALF // tensor.element_size()
        for number, begin in enumerate(range(0, tensor.numel(), step)):
            chunk = tensor[begin : begin + step]
            offset = (number % 2) * HALF
            end = offset + chunk.numel() * chunk.element_size()
            parts = [part[offset:end].view(tensor.dtype) for part in window.parts]
            parts[self._rank].copy_(chunk)
            self._meet(deadline, patient)
            start, stop = self._share(self._rank, chunk.numel())
            self._add(parts, start, stop, [parts[self._rank]], kernel)
            self._meet(deadline, patient)
            for rank in range(self._size):
                start, stop = self._share(rank, chunk.numel())
                chunk[start:stop].copy_(parts[rank][start:stop])

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
        kernel: Callable[..., Tensor],
    ) -> None:
        """Values start to stop of all `parts`, in the order of ranks, into each of `into`."""
        narrow = parts[0].dtype in _NARROW
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
            for target in into:
                target[block].copy_(sums)

    def close(self) -> None:
        """Forget the windows; memory that tensors still use stays."""
        self._through, self._own = None, []
