"""How sockets between the ranks of a group are laid: addresses through the store, and a proof of the
group's secret on every connection.
"""

from __future__ import annotations

import errno
import hmac
import os
import selectors
import socket
import time
from collections.abc import Collection
from datetime import timedelta

from .._stores import PrefixStore, Store
from .._stores.wire import ANSWER_BYTES, GREETING_BYTES, MAGIC, prove

__all__ = ["Laid", "agree", "lay"]

_CONNECT = 10.0  # seconds for all connections of one member
_NUMBER = 4  # bytes in which who connects says its number

Laid = tuple[dict[int, socket.socket], dict[int, socket.socket]]  # those one called, and that came


def lay(
    store: Store,
    number: int,
    count: int,
    to: Collection[int],
    come: Collection[int],
    timeout: timedelta,
) -> Laid | None:
    """Connections of member `number` of `count` to the members `to`, and those that the members
    `come` make to this one. Every member calls it; None where one cannot be made.
    """
    if number == 0:
        store.set("secret", os.urandom(16).hex())
    host = _address(store)
    listener = socket.create_server((host, 0), backlog=max(128, count)) if host else None
    try:
        at = f"{host} {listener.getsockname()[1]}" if listener is not None else ""
        store.set(f"at/{number}", at)
        keys = ["secret", *(f"at/{other}" for other in range(count))]
        store.wait(keys, timeout)
        secret, *places = (value.decode() for value in store.multi_get(keys))
        if listener is None or not all(places):
            return None
        called = {other: _place(places[other]) for other in to}
        return _Wiring(listener, secret.encode(), number, called, set(come)).lay()
    finally:
        if listener is not None:
            listener.close()


def agree(store: Store, able: bool, member: int, members: int, timeout: timedelta) -> bool:
    """Are all members able? Every one of them calls it, and gets the same answer."""
    store.set(f"able/{member}", "1" if able else "0")
    keys = [f"able/{other}" for other in range(members)]
    store.wait(keys, timeout)
    return all(value == b"1" for value in store.multi_get(keys))


def _place(text: str) -> tuple[str, int]:
    host, _, port = text.partition(" ")
    return host, int(port)


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
    """All connections of a member at once, so that none waits for another in a circle.

    Who connects proves that it knows the group's secret; a stranger's connection is closed. No
    stranger holds up a member: nothing waits for what one of them says, and where they take all
    descriptors the one that came first goes.
    """

    def __init__(
        self,
        listener: socket.socket,
        secret: bytes,
        number: int,
        called: dict[int, tuple[str, int]],
        come: set[int],
    ) -> None:
        self._listener, self._secret = listener, secret
        self._number, self._called, self._come = number.to_bytes(_NUMBER, "big"), called, come
        self._selector = selectors.DefaultSelector()
        self._to: dict[int, socket.socket] = {}
        self._from: dict[int, socket.socket] = {}
        self._unanswered: set[socket.socket] = set()
        # greeting, answer so far
        self._strangers: dict[socket.socket, tuple[bytes, bytearray]] = {}

    def lay(self) -> Laid | None:
        """The connections, or None."""
        until = time.monotonic() + _CONNECT
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        try:
            for other, place in self._called.items():
                self._to[other] = made = socket.create_connection(place, _CONNECT)
                self._unanswered.add(made)
                self._selector.register(made, selectors.EVENT_READ)
            while not self._complete() and time.monotonic() < until:
                for key, _ in self._selector.select(0.2):
                    self._serve(key.fileobj)
        except OSError:  # the others are told that there is no connection
            self._unanswered.update(self._to.values())
        return self._end()

    def _complete(self) -> bool:
        return not self._unanswered and len(self._from) == len(self._come)

    def _end(self) -> Laid | None:
        self._selector.close()
        good = self._complete() and len(self._to) == len(self._called)
        kept = {*self._to.values(), *self._from.values()}
        for sock in self._strangers:
            sock.close()
        if good:
            for sock in kept:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setblocking(False)
            return self._to, self._from
        for sock in kept:
            sock.close()
        return None

    def _serve(self, sock: object) -> None:
        assert isinstance(sock, socket.socket)
        if sock is self._listener:
            self._welcome()
        elif sock in self._strangers:
            self._hear(sock)
        elif sock in self._unanswered:
            self._answer(sock)

    def _welcome(self) -> None:
        try:
            stranger, _ = self._listener.accept()
        except OSError as error:  # mostly it has left already
            if error.errno in (errno.EMFILE, errno.ENFILE) and self._strangers:
                self._refuse(next(iter(self._strangers)))
            return
        greeting = MAGIC + os.urandom(GREETING_BYTES - len(MAGIC))
        stranger.setblocking(False)
        self._strangers[stranger] = greeting, bytearray()
        self._selector.register(stranger, selectors.EVENT_READ)
        try:
            stranger.send(greeting)  # so few bytes that a new connection has room for them
        except OSError:
            self._refuse(stranger)

    def _refuse(self, sock: socket.socket) -> None:
        self._selector.unregister(sock)
        del self._strangers[sock]
        sock.close()

    def _answer(self, sock: socket.socket) -> None:
        """Prove to a member that was called that this is one."""
        self._selector.unregister(sock)
        greeting = _exactly(sock, GREETING_BYTES)
        sock.sendall(self._number + prove(self._secret, greeting + self._number))
        self._unanswered.remove(sock)

    def _hear(self, sock: socket.socket) -> None:
        """What has come of an answer; once it is complete, this is a member or is refused."""
        greeting, answer = self._strangers[sock]
        try:
            part = sock.recv(_NUMBER + ANSWER_BYTES - len(answer))
        except BlockingIOError:
            return
        except OSError:
            part = b""
        answer += part
        if part and len(answer) < _NUMBER + ANSWER_BYTES:
            return
        member = self._member(greeting, bytes(answer))
        if member is None:
            self._refuse(sock)
            return
        self._selector.unregister(sock)
        del self._strangers[sock]
        self._from[member] = sock

    def _member(self, greeting: bytes, answer: bytes) -> int | None:
        """Who has connected, if it is one that is awaited."""
        number, proof = answer[:_NUMBER], answer[_NUMBER:]
        if not hmac.compare_digest(proof, prove(self._secret, greeting + number)):
            return None
        member = int.from_bytes(number, "big")
        return member if member in self._come and member not in self._from else None


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise ConnectionResetError("closed in the middle of a greeting")
        data += part
    return data
