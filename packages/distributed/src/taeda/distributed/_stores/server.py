"""The server of TCPStore: one thread, one epoll, non-blocking sockets.
A client that misbehaves loses its connection.
"""

from __future__ import annotations

import hmac
import os
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable

from .._errors import DistStoreError
from . import wire
from .table import Table

__all__ = ["KINDS", "Server"]

KINDS = {
    name: number
    for number, name in enumerate(
        "ok error missing set get add compare check wait delete count append push pop length ping "
        "cancel will".split()
    )
}
NAMES = {number: name for name, number in KINDS.items()}
_LENGTH = struct.Struct("!I")


class _Client:
    """A connection: bytes that came and are no whole frame yet, bytes that wait to be sent."""

    def __init__(self, sock: socket.socket, greeting: bytes) -> None:
        self.sock, self.greeting = sock, greeting
        self.trusted = False
        self.inbox, self.outbox = bytearray(), bytearray(greeting)
        self.waits: tuple[str, list[bytes]] | None = None  # what it waits for, and the keys
        self.will: tuple[bytes, bytes] | None = None  # what is set when it leaves


class Server:
    """Serves a table at an address until `close`. The thread is a daemon, and wakes by a pipe."""

    def __init__(self, listener: socket.socket, secret: bytes) -> None:
        self._secret, self._table = secret, Table()
        self._listener = listener
        listener.setblocking(False)
        self._waiting: set[_Client] = set()
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, None)
        self._wake_read, self._wake_write = os.pipe()
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._pid, self._done = os.getpid(), False
        self._thread = threading.Thread(target=self._run, name="taeda-store", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread and close every socket. A forked child only closes its copies."""
        if self._done:
            return
        self._done = True
        here = self._pid == os.getpid()
        if here:
            os.write(self._wake_write, b"x")  # the thread may have ended by now: the pipe has not
            self._thread.join(5)
        os.close(self._wake_write)
        if not (here and self._thread.is_alive()):
            os.close(self._wake_read)

    # ---- the loop ----

    def _run(self) -> None:
        try:
            while not self._done:
                self._turn()
        finally:
            self._shut()

    def _turn(self) -> None:
        for key, events in self._selector.select():
            client = key.data
            if key.fileobj is self._listener:
                self._accept()
            elif client is None:
                return  # the pipe: time to stop
            else:
                self._serve(client, events)

    def _shut(self) -> None:
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:  # it left before we came, or there are no descriptors left
            self._drop_a_stranger()
            time.sleep(0.01)
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = _Client(sock, wire.MAGIC + os.urandom(16))
        self._selector.register(sock, selectors.EVENT_READ | selectors.EVENT_WRITE, client)

    def _drop_a_stranger(self) -> None:
        """Who has not proved the secret must not keep others out by holding all descriptors."""
        clients = [key.data for key in self._selector.get_map().values() if key.data is not None]
        for client in [client for client in clients if not client.trusted][:1]:
            self._drop(client)

    def _serve(self, client: _Client, events: int) -> None:
        try:
            if events & selectors.EVENT_READ:
                self._receive(client)
            if events & selectors.EVENT_WRITE:
                self._flush(client)
        except (OSError, wire.Malformed):
            self._drop(client)

    def _drop(self, client: _Client) -> None:
        self._waiting.discard(client)
        if client.sock.fileno() >= 0:
            self._selector.unregister(client.sock)
            client.sock.close()
            if client.will is not None:
                key, value = client.will
                self._table.values[key] = value
                self._notify()

    def _receive(self, client: _Client) -> None:
        data = client.sock.recv(1 << 18)
        if not data:
            raise wire.Malformed("the end")
        client.inbox += data
        if not client.trusted and not self._admit(client):
            return
        while len(client.inbox) >= 4:
            (size,) = _LENGTH.unpack_from(client.inbox)
            if not 0 < size <= wire.MAX_FRAME:
                raise wire.Malformed(f"a frame of {size} bytes")
            if len(client.inbox) < 4 + size:
                return
            frame = bytes(client.inbox[4 : 4 + size])
            del client.inbox[: 4 + size]
            self._answer(client, *wire.unpack(frame))

    def _admit(self, client: _Client) -> bool:
        """Does the client know the secret? It has no say before it has proved so."""
        if len(client.inbox) < wire.ANSWER_BYTES:
            return False
        proof = bytes(client.inbox[: wire.ANSWER_BYTES])
        if not hmac.compare_digest(proof, wire.prove(self._secret, client.greeting)):
            raise wire.Malformed("a wrong secret")
        del client.inbox[: wire.ANSWER_BYTES]
        client.trusted = True
        self._send(client, wire.pack(KINDS["ok"]))
        return True

    def _send(self, client: _Client, data: bytes) -> None:
        client.outbox += data
        self._flush(client)

    def _flush(self, client: _Client) -> None:
        while client.outbox:
            try:
                sent = client.sock.send(client.outbox)
            except BlockingIOError:
                break
            del client.outbox[:sent]
        more = selectors.EVENT_WRITE if client.outbox else 0
        self._selector.modify(client.sock, selectors.EVENT_READ | more, client)

    # ---- requests ----

    def _answer(self, client: _Client, kind: int, fields: list[bytes]) -> None:
        method: Callable[..., None] | None = getattr(self, f"_do_{NAMES.get(kind, '?')}", None)
        if method is None:
            raise wire.Malformed(f"request {kind}")
        try:
            method(client, *fields)
        except DistStoreError as error:
            self._send(client, wire.pack(KINDS["error"], [str(error).encode()]))
        except (TypeError, ValueError) as error:
            # another number of fields, or no number where one belongs
            raise wire.Malformed(str(error)) from None

    def _ok(self, client: _Client, *fields: bytes) -> None:
        self._send(client, wire.pack(KINDS["ok"], fields))

    def _do_set(self, client: _Client, *pairs: bytes) -> None:
        if len(pairs) % 2:
            raise ValueError("a key without a value")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            self._table.values[key] = value
        self._ok(client)
        self._notify()

    def _do_add(self, client: _Client, key: bytes, amount: bytes) -> None:
        total = self._table.add(key, int(amount))
        self._ok(client, str(total).encode())
        self._notify()

    def _do_compare(self, client: _Client, key: bytes, expected: bytes, desired: bytes) -> None:
        self._ok(client, self._table.compare_set(key, expected, desired))
        self._notify()

    def _do_append(self, client: _Client, key: bytes, value: bytes) -> None:
        self._table.append(key, value)
        self._ok(client)
        self._notify()

    def _do_push(self, client: _Client, key: bytes, value: bytes) -> None:
        self._table.push(key, value)
        self._ok(client)
        self._notify()

    def _do_check(self, client: _Client, *keys: bytes) -> None:
        self._ok(client, b"1" if all(map(self._table.has, keys)) else b"0")

    def _do_delete(self, client: _Client, key: bytes) -> None:
        self._ok(client, b"1" if self._table.delete(key) else b"0")

    def _do_count(self, client: _Client) -> None:
        self._ok(client, str(len(self._table)).encode())

    def _do_length(self, client: _Client, key: bytes) -> None:
        self._ok(client, str(self._table.queue_length(key)).encode())

    def _do_ping(self, client: _Client, word: bytes) -> None:
        self._ok(client, word)

    def _do_will(self, client: _Client, key: bytes, value: bytes) -> None:
        client.will = key, value
        self._ok(client)

    def _do_get(self, client: _Client, *keys: bytes) -> None:
        self._wait_for(client, "get", list(keys))

    def _do_wait(self, client: _Client, *keys: bytes) -> None:
        self._wait_for(client, "wait", list(keys))

    def _do_pop(self, client: _Client, key: bytes, block: bytes) -> None:
        if block == b"1":
            self._wait_for(client, "pop", [key])
            return
        value = self._table.pop(key)
        self._send(client, wire.pack(KINDS["missing"])) if value is None else self._ok(
            client, value
        )

    def _do_cancel(self, client: _Client) -> None:
        """The client stops waiting. If the answer is under way, it is not sent twice."""
        if client in self._waiting:
            _, keys = client.waits or ("", [])
            self._waiting.discard(client)
            absent = [key for key in keys if not self._table.has(key)]
            self._send(client, wire.pack(KINDS["missing"], absent))

    def _wait_for(self, client: _Client, what: str, keys: list[bytes]) -> None:
        client.waits = (what, keys)
        if not self._try(client):
            self._waiting.add(client)

    def _try(self, client: _Client) -> bool:
        what, keys = client.waits or ("", [])
        if what == "pop":
            value = self._table.pop(keys[0])
            if value is None:
                return False
            self._ok(client, value)
            return True
        if not all(map(self._table.has, keys)):
            return False
        found = [self._table.values.get(key, b"") for key in keys] if what == "get" else []
        self._ok(client, *found)
        return True

    def _notify(self) -> None:
        for client in list(self._waiting):
            try:
                if self._try(client):
                    self._waiting.discard(client)
            except OSError:  # that one is gone; the others are still served
                self._drop(client)
