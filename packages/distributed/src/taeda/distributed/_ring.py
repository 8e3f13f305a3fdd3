"""Sums over machines: a ring of plain sockets between one rank of each, in pieces that are on their
way together.

MPI is asked for progress again and again, which takes the processor from the ranks that compute; a
socket is served by the kernel meanwhile. Values are cut into a part for each machine. A part starts
at the machine of its number, goes once around while every machine adds its own values, and once
more as the sum. The order in which a part is added up depends on its number alone, and its sum is
computed in one place, so every rank gets the same bits.
"""

from __future__ import annotations

import ctypes
import hmac
import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta

import taeda
from taeda import Tensor

from ._errors import DistTimeoutError
from ._stores import PrefixStore, Store
from ._stores.wire import ANSWER_BYTES, GREETING_BYTES, MAGIC, prove
from ._waiting import LOOK_EVERY, Deadline

__all__ = ["Ring", "join_ring"]

PIECE = 512 << 10  # bytes that are added up, and sent on, together
_CONNECT = 10.0  # seconds for the wires of a new ring
Kernel = Callable[..., Tensor]


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
        self._outbox = deque(_bytes_of(piece) for piece in parts[node])
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
            self._view = _bytes_of(self._into)
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
                self._outbox.append(_bytes_of(piece))
            self._open()
        return True


def _bytes_of(tensor: Tensor) -> memoryview:
    """The memory of a flat tensor, which must outlive the view."""
    nbytes = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * nbytes).from_address(tensor.data_ptr())).cast("B")


# ---- how the wires are laid ----


def join_ring(
    store: Store, node: int, nodes: int, leads: bool, able: bool, member: int, members: int,
    timeout: timedelta,
) -> tuple[bool, Ring | None]:  # fmt: skip
    """Can all members of a group use a ring of `nodes` machines?
    And its wires, for the one of each that `leads`.

    Every member calls it. A member that is not `able`, an address that others do not reach or a
    wire that cannot be laid is told to all, and then nobody has a ring.
    """
    store = PrefixStore("ring", store)
    ring = None
    if leads:
        ring = _lay(store, node, nodes, timeout)
        able = able and ring is not None
    store.set(f"able/{member}", "1" if able else "0")
    keys = [f"able/{other}" for other in range(members)]
    store.wait(keys, timeout)
    if all(value == b"1" for value in store.multi_get(keys)):
        return True, ring
    if ring is not None:
        ring.close()
    return False, None


def _lay(store: Store, node: int, nodes: int, timeout: timedelta) -> Ring | None:
    if node == 0:
        store.set("secret", os.urandom(16).hex())
    host = _address(store)
    listener = socket.create_server((host, 0), backlog=128) if host else None
    try:
        at = f"{host} {listener.getsockname()[1]}" if listener is not None else ""
        store.set(f"at/{node}", at)
        keys = ["secret", *(f"at/{other}" for other in range(nodes))]
        store.wait(keys, timeout)
        secret, *places = (value.decode() for value in store.multi_get(keys))
        if listener is None or not all(places):
            return None
        wires = _Wiring(listener, places[(node + 1) % nodes], secret.encode()).lay()
        return Ring(*wires, node, nodes) if wires is not None else None
    finally:
        if listener is not None:
            listener.close()


def _address(store: Store) -> str:
    """The address of this machine on the way to the store; empty where none is known that others
    could reach.
    """
    while isinstance(store, PrefixStore):
        store = store.underlying_store
    host, port = getattr(store, "host", ""), getattr(store, "port", 0)
    if not host:
        return ""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((host, port or 9))  # sends nothing
            found = str(probe.getsockname()[0])
        except OSError:  # a store at an IPv6 address, for one
            return ""
    return "" if found.startswith("127.") else found


class _Wiring:
    """Both wires of a machine at once, so that no machine waits for another in a circle.

    Who connects proves that it knows the group's secret; a stranger's connection is closed.
    """

    def __init__(self, listener: socket.socket, place: str, secret: bytes) -> None:
        self._listener, self._secret = listener, secret
        host, _, port = place.partition(" ")
        self._place = host, int(port)
        self._selector = selectors.DefaultSelector()
        self._to: socket.socket | None = None
        self._from: socket.socket | None = None
        self._answered = False
        self._greetings: dict[socket.socket, bytes] = {}

    def lay(self) -> tuple[socket.socket, socket.socket] | None:
        """The wire to the next machine and that from the one before, or None."""
        until = time.monotonic() + _CONNECT
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        try:
            self._to = socket.create_connection(self._place, _CONNECT)
            self._selector.register(self._to, selectors.EVENT_READ)
            while not (self._answered and self._from) and time.monotonic() < until:
                for key, _ in self._selector.select(0.2):
                    self._serve(key.fileobj)
        except OSError:  # the others are told that there is no wire
            self._answered = False
        return self._end()

    def _end(self) -> tuple[socket.socket, socket.socket] | None:
        self._selector.close()
        good = self._answered and self._to is not None and self._from is not None
        for sock in {*self._greetings, *(() if good else (self._to, self._from))}:
            if sock is not None and not (good and sock in (self._to, self._from)):
                sock.close()
        if good:
            assert self._to is not None and self._from is not None
            self._to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._to, self._from
        return None

    def _serve(self, sock: object) -> None:
        if sock is self._listener:
            stranger, _ = self._listener.accept()
            greeting = MAGIC + os.urandom(GREETING_BYTES - len(MAGIC))
            stranger.settimeout(1.0)
            self._greetings[stranger] = greeting
            self._selector.register(stranger, selectors.EVENT_READ)
            stranger.sendall(greeting)
            return
        assert isinstance(sock, socket.socket)
        self._selector.unregister(sock)
        if sock is self._to:
            sock.sendall(prove(self._secret, _exactly(sock, GREETING_BYTES)))
            self._answered = True
        elif self._is_member(sock):
            self._from = sock
        else:
            sock.close()

    def _is_member(self, sock: socket.socket) -> bool:
        try:
            answer = _exactly(sock, ANSWER_BYTES)
        except OSError:
            return False
        return hmac.compare_digest(answer, prove(self._secret, self._greetings[sock]))


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise ConnectionResetError("closed in the middle of a greeting")
        data += part
    return data
