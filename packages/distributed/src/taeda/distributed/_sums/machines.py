"""Sums over several machines: inside each in shared memory, over a ring of one rank of each, and
back inside.
"""

from __future__ import annotations

from taeda import Tensor

from .._meeting.arriving import Arrivals
from .._types import ReduceOp
from .._waiting import Deadline
from .kernels import kernel_of
from .ring import Ring
from .window import HALF, Windows

__all__ = ["Machines"]


class Machines:
    """The machines of a group as one rank sees them: its neighbours in memory, and the ring if it
    is the first of them.

    All ranks go through the same pieces in the same order, however many of them share a machine.
    """

    def __init__(
        self, arrivals: Arrivals, windows: Windows | None, ring: Ring | None, alone: bool
    ) -> None:
        self._arrivals, self._windows, self._ring = arrivals, windows, ring
        self._alone = alone  # has no machine two ranks? Then nothing passes through a window

    def all_reduce(self, tensor: Tensor, op: ReduceOp, deadline: Deadline, patient: bool) -> None:
        """`tensor` is flat, contiguous and not narrow; every rank came with one of the same length."""
        if self._windows is None:
            step = tensor.numel() if self._alone else HALF // tensor.element_size()
            for begin in range(0, tensor.numel(), step):
                self._around(tensor[begin : begin + step], op, deadline)
            return
        kernel = kernel_of(op, tensor.dtype)
        windows, mates = self._windows, self._windows.mates
        there = windows.shared(tensor)
        for parts, chunk in windows.pieces(tensor, there, deadline, patient):
            total = parts[0]
            windows.add_up(parts, [total], kernel, deadline, patient)
            if self._ring is not None:
                self._around(total, op, deadline)
            mates.meet(deadline, True)  # the others leave the processor to the one at the ring
            if chunk.data_ptr() != total.data_ptr():
                chunk.copy_(total)
        if there is not None:
            mates.meet(deadline, patient)  # the first one's own values are read until here

    def _around(self, values: Tensor, op: ReduceOp, deadline: Deadline) -> None:
        kernel = kernel_of(op, values.dtype)
        assert self._ring is not None
        self._ring.all_reduce(values, kernel, deadline, self._arrivals.look, self._arrivals.late)

    def close(self) -> None:
        """Close the wires."""
        if self._ring is not None:
            self._ring.close()
