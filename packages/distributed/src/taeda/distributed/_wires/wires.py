"""Messages between the ranks of a group over a socket for each pair.

A message has a kind, a tag, a few bytes that say what it is, and values. It goes to the first
receipt for its sender, kind and tag, and into the receipt's memory straight from the socket. One
that nobody has asked for yet is kept. Whoever waits moves all that can be moved, in both
directions. A connection that ends is noted, never raised: who waits looks at the peers and says
which rank is gone.
"""

from __future__ import annotations

import ctypes
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from taeda import Tensor

from .._waiting import LOOK_EVERY, Deadline

__all__ = ["Receipt", "Sending", "Wires", "bytes_of"]

_HEAD = struct.Struct("<IIQQ")  # kind, bytes of what it says, tag, bytes of values
STRAYS = 64 << 20  # bytes of one peer that nobody has asked for; then it waits
SPINS = 30
_SEVERAL = 0.001  # seconds after which one of several waiting threads looks what another has moved


def bytes_of(tensor: Tensor) -> memoryview:
    """The memory of a flat tensor, which must outlive the view."""
    nbytes = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * nbytes).from_address(tensor.data_ptr())).cast("B")


@dataclass(eq=False)
class Sending:
    """A message on its way out; `done` once the kernel has all of it. `owner` keeps its memory."""

    owner: Any = None
    done: bool = False


@dataclass(eq=False)
class Receipt:
    """What is to come from `peer`, or any. Without `into` the values are kept as `values`.

    If other values come than `says` and `into` tell, `other` says so, and they are dropped.
    """

    peer: int | None
    kind: int
    tag: int
    into: memoryview | None = None
    says: bytes = b""
    owner: Any = None
    done: bool = False
    source: int = -1
    values: bytes | bytearray = b""
    other: bytes | None = None

    def suits(self, peer: int, kind: int, tag: int) -> bool:
        return self.tag == tag and self.kind == kind and self.peer in (None, peer)


@dataclass(eq=False)
class _Frame:
    """A message that comes in, or has come and is not asked for."""

    peer: int
    kind: int
    tag: int
    says: bytes
    nbytes: int
    values: bytearray = field(default_factory=bytearray)
    complete: bool = False
    receipt: Receipt | None = None


class _Wire:
    """One connection: what waits to go out, and how far the message that comes in has come."""

    def __init__(self, peer: int, sock: socket.socket) -> None:
        self.peer, self.sock = peer, sock
        self.outbox: deque[tuple[memoryview, Sending | None]] = deque()
        self.events, self.over = select.EPOLLIN, False
        self.head = memoryview(bytearray(_HEAD.size))
        self.says = memoryview(b"")
        self.frame: _Frame | None = None
        self.got = self.strays = 0
        self.view = self.head


class Wires:
    """The connections of one rank to all others of a group, by the group's numbers."""

    def __init__(self, rank: int, sockets: dict[int, socket.socket]) -> None:
        self._rank, self._lock = rank, threading.Lock()
        self._wires = {peer: _Wire(peer, sock) for peer, sock in sockets.items()}
        self._by_descriptor = {w.sock.fileno(): w for w in self._wires.values()}
        self._epoll = select.epoll()
        self._ends, self._ends_lock = select.poll(), threading.Lock()
        self._ended: set[int] = set()
        self._receipts: list[Receipt] = []
        self._strays: list[_Frame] = []
        self._waiting = 0
        for descriptor, wire in self._by_descriptor.items():
            wire.sock.setblocking(False)
            self._epoll.register(descriptor, wire.events)
            self._ends.register(descriptor, select.POLLRDHUP)

    # ---- messages ----

    def send(
        self,
        peer: int,
        kind: int,
        tag: int,
        values: memoryview,
        says: bytes = b"",
        owner: Any = None,
    ) -> Sending:
        """Begin to send `values`, which must stay as they are until it is done."""
        sending = Sending(owner)
        with self._lock:
            if peer == self._rank:
                self._to_itself(kind, tag, bytes(values), says)
                sending.done = True
                return sending
            wire = self._wires[peer]
            if wire.over:
                return sending
            head = memoryview(_HEAD.pack(kind, len(says), tag, len(values)) + says)
            wire.outbox.append((head, None if len(values) else sending))
            if len(values):
                wire.outbox.append((values, sending))
            self._push_out(wire)
            self._watch(wire)
        return sending

    def receive(self, receipt: Receipt) -> Receipt:
        """Begin to receive."""
        with self._lock:
            for number, frame in enumerate(self._strays):
                if receipt.suits(frame.peer, frame.kind, frame.tag):
                    del self._strays[number]
                    self._hand_over(frame, receipt)
                    return receipt
            self._receipts.append(receipt)
            for wire in self._wires.values():
                self._watch(wire)
        return receipt

    def wait(
        self,
        done: Callable[[], bool],
        deadline: Deadline,
        look: Callable[[], None],
        patient: bool = False,
    ) -> bool:
        """Move messages until `done()`; False after the deadline. `look()` may raise, and is called
        every 20 ms.
        """
        for _ in range(2 if patient else SPINS):
            if self.move() or done():
                return True if done() else self._wait(done, deadline, look)
        return self._wait(done, deadline, look)

    def _wait(self, done: Callable[[], bool], deadline: Deadline, look: Callable[[], None]) -> bool:
        clock = Deadline(LOOK_EVERY)
        self._waiting += 1
        try:
            while not done():
                self.move(LOOK_EVERY if self._waiting == 1 else _SEVERAL)
                if clock.passed():
                    look()
                    if deadline.passed():
                        return done()
                    clock = Deadline(LOOK_EVERY)
        finally:
            self._waiting -= 1
        return True

    def move(self, seconds: float = 0.0) -> bool:
        """Send and receive what can be, after at most so many seconds. Was there anything?"""
        ready = self._epoll.poll(seconds)
        if not ready:
            return False
        with self._lock:
            for descriptor, events in ready:
                wire = self._by_descriptor[descriptor]
                if events & select.EPOLLOUT:
                    self._push_out(wire)
                if events & ~select.EPOLLOUT:
                    self._pull_in(wire)
                self._watch(wire)
        return True

    def ended(self) -> set[int]:
        """Peers whose side of the connection is closed; values of theirs may still be on their way."""
        with self._ends_lock:
            for descriptor, _ in self._ends.poll(0):
                self._ends.unregister(descriptor)
                self._ended.add(self._by_descriptor[descriptor].peer)
            return set(self._ended)

    def over(self) -> set[int]:
        """Peers that are gone, and all of whose values have been received."""
        return {peer for peer, wire in self._wires.items() if wire.over}

    def close(self) -> None:
        """Close all connections. Messages that are on their way out in the kernel still arrive."""
        with self._lock, self._ends_lock:
            self._epoll.close()
            self._ends = select.poll()
            for wire in self._wires.values():
                wire.sock.close()
                wire.over = True

    # ---- under the lock ----

    def _watch(self, wire: _Wire) -> None:
        """Ask the kernel for what this connection needs."""
        if wire.over:
            return
        full = wire.strays > STRAYS and wire.frame is None
        if full:
            full = not any(receipt.peer in (None, wire.peer) for receipt in self._receipts)
        events = (0 if full else select.EPOLLIN) | (select.EPOLLOUT if wire.outbox else 0)
        if events != wire.events:
            wire.events = events
            self._epoll.modify(wire.sock.fileno(), events)

    def _end(self, wire: _Wire) -> None:
        if not wire.over:
            wire.over = True
            wire.outbox.clear()
            self._epoll.unregister(wire.sock.fileno())

    def _push_out(self, wire: _Wire) -> None:
        box = wire.outbox
        while box:
            views = [box[i][0] for i in range(min(len(box), 8))]
            try:
                sent = wire.sock.sendmsg(views)
            except BlockingIOError:
                return
            except OSError:
                self._end(wire)
                return
            while box and sent >= len(box[0][0]):
                view, sending = box.popleft()
                sent -= len(view)
                if sending is not None:
                    sending.done, sending.owner = True, None
            if sent:
                box[0] = box[0][0][sent:], box[0][1]

    def _pull_in(self, wire: _Wire) -> None:
        """Receive up to the end of a message."""
        while not wire.over:
            try:
                count = wire.sock.recv_into(wire.view[wire.got :])
            except BlockingIOError:
                return
            except OSError:
                count = 0
            if not count:
                self._end(wire)
                return
            wire.got += count
            if wire.got == len(wire.view) and self._part_is_there(wire):
                return

    def _part_is_there(self, wire: _Wire) -> bool:
        """Go on to the next part of a message: head, what it says, values. Was it the last?"""
        if wire.view is wire.head:
            _, said, _, _ = _HEAD.unpack(wire.head)
            wire.says = memoryview(bytearray(said))
            if said:
                wire.view, wire.got = wire.says, 0
                return False
        if wire.frame is None:
            self._open(wire)
            if wire.frame is not None and wire.frame.nbytes:
                return False
        frame = wire.frame
        assert frame is not None
        wire.frame, wire.view, wire.got = None, wire.head, 0
        self._complete(wire, frame)
        return True

    def _open(self, wire: _Wire) -> None:
        """The values come next: into the memory of the receipt that waits for them, or some of ours."""
        kind, _, tag, nbytes = _HEAD.unpack(wire.head)
        frame = wire.frame = _Frame(wire.peer, kind, tag, bytes(wire.says), nbytes)
        frame.receipt = receipt = self._take(frame)
        if receipt is not None and receipt.into is not None and _alike(frame, receipt):
            wire.view, wire.got = receipt.into, 0
            return
        frame.values = bytearray(nbytes)
        wire.view, wire.got = memoryview(frame.values), 0

    def _complete(self, wire: _Wire, frame: _Frame) -> None:
        frame.complete = True
        if frame.receipt is not None:
            _fill(frame, frame.receipt)
            return
        self._strays.append(frame)
        wire.strays += frame.nbytes
        self._match(frame)

    def _match(self, frame: _Frame) -> None:
        """A receipt may have come while the values did."""
        if (receipt := self._take(frame)) is not None:
            self._strays.remove(frame)
            self._hand_over(frame, receipt)

    def _take(self, frame: _Frame) -> Receipt | None:
        """The first receipt for this message, which waits no longer."""
        for number, receipt in enumerate(self._receipts):
            if receipt.suits(frame.peer, frame.kind, frame.tag):
                return self._receipts.pop(number)
        return None

    def _hand_over(self, frame: _Frame, receipt: Receipt) -> None:
        if frame.peer != self._rank:
            wire = self._wires[frame.peer]
            wire.strays -= frame.nbytes
            self._watch(wire)
        _fill(frame, receipt)

    def _to_itself(self, kind: int, tag: int, values: bytes, says: bytes) -> None:
        frame = _Frame(self._rank, kind, tag, says, len(values), bytearray(values), True)
        self._strays.append(frame)
        self._match(frame)


def _alike(frame: _Frame, receipt: Receipt) -> bool:
    """Is it what the receipt wants?"""
    wanted = receipt.into
    return frame.says == receipt.says and (wanted is None or len(wanted) == frame.nbytes)


def _fill(frame: _Frame, receipt: Receipt) -> None:
    """Values that went into memory of ours go where the receipt wants them."""
    receipt.source, receipt.done = frame.peer, True
    if receipt.into is None:
        receipt.values, receipt.says = frame.values, frame.says
    elif not _alike(frame, receipt):
        receipt.other = frame.says
    elif frame.values:
        receipt.into[:] = frame.values
    receipt.owner = None
