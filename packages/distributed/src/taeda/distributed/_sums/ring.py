"""Sums over machines: a ring of plain sockets between one rank of each, in pieces that are on their
way together.

MPI is asked for progress again and again, which takes the processor from the ranks that compute; a
socket is served by the kernel meanwhile. Values are cut into a part for each machine. A part starts
at the machine of its number, goes once around while every machine adds its own values, and once
more as the sum. The order in which a part is added up depends on its number alone, and its sum is
computed in one place, so every rank gets the same bits.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque
from collections.abc import Callable

import taeda
from taeda import Tensor

from .._errors import DistTimeoutError
from .._waiting import LOOK_EVERY, Deadline
from .._wires.wires import bytes_of
from .kernels import Kernel

__all__ = ["Ring"]

PIECE = 512 << 10  # bytes that are added up, and sent on, together


class Ring:
    """The wires of one machine's first rank: to the next machine, and from the one before.
    Machines are numbered.
    """

    def __init__(
        self, to_next: socket.socket, from_last: socket.socket, node: int, nodes: int
    ) -> None:
        self._to, self._from, self._node, self._nodes = to_next, from_last, node, nodes
        for wire in (to_next, from_last):
            wire.setblocking(False)

    def all_reduce(
        self,
        values: Tensor,
        kernel: Kernel,
        deadline: Deadline,
        look: Callable[[], None],
        late: Callable[[Deadline], DistTimeoutError],
    ) -> None:
        """Combine the flat `values` of all machines, in place. `look` and `late` as in `Mates`."""
        turn = _Turn(self._to, self._from, self._parts(values), self._node, kernel)
        with selectors.DefaultSelector() as selector:
            selector.register(self._from, selectors.EVENT_READ)
            next_look = time.monotonic() + LOOK_EVERY
            while not turn.done():
                turn.push(selector)
                now = time.monotonic()
                if now >= next_look:
                    look()
                    if now >= deadline.at:
                        raise late(deadline)
                    next_look = now + LOOK_EVERY

    def _parts(self, values: Tensor) -> list[list[Tensor]]:
        """A part for each machine, in pieces."""
        each = -(-values.numel() // (64 * self._nodes)) * 64
        step = PIECE // values.element_size()
        parts = []
        for node in range(self._nodes):
            part = values[min(node * each, values.numel()) : (node + 1) * each]
            parts.append([part[at : at + step] for at in range(0, part.numel(), step)])
        return parts

    def close(self) -> None:
        """Close both wires."""
        self._to.close()
        self._from.close()


class _Turn:
    """One sum on its way: the pieces that are to come, in their order, and the bytes that wait to be sent."""

    def __init__(
        self,
        to_next: socket.socket,
        from_last: socket.socket,
        parts: list[list[Tensor]],
        node: int,
        kernel: Kernel,
    ) -> None:
        self._to, self._from, self._kernel = to_next, from_last, kernel
        nodes, last = len(parts), len(parts) - 2
        self._outbox = deque(bytes_of(piece) for piece in parts[node])
        add = [piece for t in range(nodes - 1) for piece in parts[(node - t - 1) % nodes]]
        keep = [(piece, t < last) for t in range(nodes - 1) for piece in parts[(node - t) % nodes]]
        self._inbox = deque(
            [(piece, True, True) for piece in add] + [(piece, False, on) for piece, on in keep]
        )
        size = max((piece.numel() for piece, _, _ in self._inbox), default=0)
        self._room = taeda.empty(size, dtype=parts[0][0].dtype) if size else None
        self._sending = self._broken = False
        self._got = 0
        self._open()

    def done(self) -> bool:
        return not self._inbox and not self._outbox

    def push(self, selector: selectors.BaseSelector) -> None:
        """Send and receive what can be; wait a little if nothing can."""
        try:
            moved = self._send() | self._receive()
        except OSError:  # the peer has gone, as `look` will tell of it
            self._broken = True
        if self._broken:
            time.sleep(LOOK_EVERY)
        elif not moved:
            self._watch(selector)
            selector.select(LOOK_EVERY)

    def _watch(self, selector: selectors.BaseSelector) -> None:
        if bool(self._outbox) is self._sending:
            return
        self._sending = not self._sending
        if self._sending:
            selector.register(self._to, selectors.EVENT_WRITE)
        else:
            selector.unregister(self._to)

    def _send(self) -> bool:
        moved = False
        while self._outbox:
            try:
                sent = self._to.send(self._outbox[0])
            except BlockingIOError:
                break
            moved = True
            rest = self._outbox.popleft()[sent:]
            if rest:
                self._outbox.appendleft(rest)
                break
        return moved

    def _open(self) -> None:
        """Where the next piece goes: beside what is here to be added, or in its place."""
        if self._inbox:
            piece, adds, _ = self._inbox[0]
            assert self._room is not None
            self._into = self._room[: piece.numel()] if adds else piece
            self._view = bytes_of(self._into)
            self._got = 0

    def _receive(self) -> bool:
        if not self._inbox:
            return False
        try:
            count = self._from.recv_into(self._view[self._got :])
        except BlockingIOError:
            return False
        if not count:
            raise ConnectionResetError("closed by the machine before")
        self._got += count
        if self._got == len(self._view):
            piece, adds, goes_on = self._inbox.popleft()
            if adds:
                self._kernel(self._into, piece, out=piece)
            if goes_on:
                self._outbox.append(bytes_of(piece))
            self._open()
        return True
