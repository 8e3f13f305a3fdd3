"""Collectives over connections between all ranks: each value crosses from machine to machine as
seldom as can be, since neighbours in the order of ranks share machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import taeda
from taeda import Tensor

from .._errors import DistTimeoutError
from .._waiting import Deadline
from .._wires.wires import Receipt, Sending, Wires, bytes_of
from .kernels import Kernel

__all__ = ["Exchange"]

DATA = 1  # kind of message
PIECE = 512 << 10  # bytes that are sent on together
LITTLE = 64 << 10  # bytes up to which everyone sends to everyone: one wait, and more messages

Out = tuple[int, Tensor]


class Exchange:
    """The moves of one rank of a group. Tensors are flat and contiguous, sizes agreed upon."""

    def __init__(
        self,
        wires: Wires,
        rank: int,
        size: int,
        look: Callable[[], None],
        late: Callable[[Deadline], DistTimeoutError],
    ) -> None:
        self._wires, self.rank, self.size, self._look, self._late = wires, rank, size, look, late
        self._turn, self._patient = 0, False

    def begin(self, turn: int, patient: bool) -> None:
        """The collective number `turn` begins: its messages are told from those of others by it."""
        self._turn, self._patient = turn, patient

    def spreads(self, tensor: Tensor) -> bool:
        """Are these so few values that everyone sends to everyone?"""
        return tensor.numel() * tensor.element_size() <= LITTLE

    def _send(self, peer: int, tensor: Tensor) -> Sending:
        return self._wires.send(peer, DATA, self._turn, bytes_of(tensor), owner=tensor)

    def _receive(self, peer: int, tensor: Tensor) -> Receipt:
        receipt = Receipt(peer, DATA, self._turn, bytes_of(tensor), owner=tensor)
        return self._wires.receive(receipt)

    def _finish(self, moves: Sequence[Sending | Receipt], deadline: Deadline) -> None:
        left = list(moves)

        def done() -> bool:
            while left and left[-1].done:
                left.pop()
            return not left

        if not self._wires.wait(done, deadline, self._look, self._patient):
            raise self._late(deadline)

    def swap(self, sends: Sequence[Out], receives: Sequence[Out], deadline: Deadline) -> None:
        """Send to some ranks and receive from some, all at once; own parts are copied."""
        mine = {peer: tensor for peer, tensor in sends if peer == self.rank}
        for peer, into in receives:
            if peer == self.rank and into.data_ptr() != mine[peer].data_ptr():
                into.copy_(mine[peer].view(into.shape))
        moves: list[Sending | Receipt] = [
            self._receive(peer, into) for peer, into in receives if peer != self.rank
        ]
        moves += [self._send(peer, tensor) for peer, tensor in sends if peer != self.rank]
        self._finish(moves, deadline)

    def broadcast(self, tensor: Tensor, root: int, deadline: Deadline) -> None:
        """Along the order of ranks, in pieces that are on their way together."""
        others = [rank for rank in range(self.size) if rank != root]
        if self.spreads(tensor):
            sends = [(peer, tensor) for peer in others] if self.rank == root else []
            self.swap(sends, [] if self.rank == root else [(root, tensor)], deadline)
            return
        before, after = (self.rank - 1) % self.size, (self.rank + 1) % self.size
        pieces = tensor.split(PIECE // tensor.element_size())
        moves: list[Sending | Receipt] = []
        receipts = [self._receive(before, p) for p in pieces] if self.rank != root else []
        for number, piece in enumerate(pieces):
            if receipts:
                self._finish([receipts[number]], deadline)
            if after != root:
                moves.append(self._send(after, piece))
        self._finish(moves, deadline)

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor, deadline: Deadline) -> None:
        """Each rank passes on to the next what it got from the one before."""
        size, mine = self.size, self.rank
        if outputs[mine].data_ptr() != tensor.data_ptr():
            outputs[mine].copy_(tensor)
        if sum(out.numel() * out.element_size() for out in outputs) <= LITTLE:
            others = [rank for rank in range(size) if rank != mine]
            sends = [(peer, outputs[mine]) for peer in others]
            self.swap(sends, [(peer, outputs[peer]) for peer in others], deadline)
            return
        before, after = (mine - 1) % size, (mine + 1) % size
        for step in range(size - 1):
            send, receive = outputs[(mine - step) % size], outputs[(mine - step - 1) % size]
            self.swap([(after, send)], [(before, receive)], deadline)

    def reduce_scatter(
        self, output: Tensor, flat: Tensor, kernel: Kernel, deadline: Deadline
    ) -> None:
        """Every rank gets its part from all, and adds them up in the order of ranks."""
        parts = flat.split(output.numel()) if output.numel() else [flat] * self.size
        got = [taeda.empty_like(output) for _ in range(self.size)]
        got[self.rank] = parts[self.rank]
        self.swap(
            [(peer, part) for peer, part in enumerate(parts) if peer != self.rank],
            [(peer, into) for peer, into in enumerate(got) if peer != self.rank],
            deadline,
        )
        kernel(got[0], got[1], out=output)
        for part in got[2:]:
            kernel(output, part, out=output)
