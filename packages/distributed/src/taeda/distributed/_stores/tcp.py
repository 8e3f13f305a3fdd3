"""The store that processes reach over TCP."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from .._errors import DistNetworkError, DistStoreError, QueueEmptyError
from .._settings import STORE_TIMEOUT, env
from . import wire
from .base import Store, as_amount, as_bytes, seconds_of
from .server import KINDS, Server

__all__ = ["TCPStore"]

_LENGTH = struct.Struct("!I")
_GRACE = 5.0  # seconds for an answer that needs no waiting


class TCPStore(Store):
    """A store served by one process and reached by the others at `host_name` and `port`.

    The process with `is_master` listens, on that address alone; port 0 picks a free one, which
    `port` tells. With `wait_for_workers` and a `world_size` every process returns when all have
    come. `multi_tenant` lets a second master of the same process use the first one's server. Who
    connects must know the secret in TAEDA_STORE_SECRET, which `taedarun` makes; without one any
    process that reaches the address may connect.

    Raises DistNetworkError if the port is taken or nobody answers within `timeout`.

    Args:
        host_name: the address of the process that serves.
        port: its port; 0, for who serves, picks a free one.
        world_size: how many processes come; None if that is not known.
        is_master: True serves; False, the default, connects.
        timeout: how long operations wait, as a timedelta.
        wait_for_workers: True, the default, returns when all of `world_size` have come.
        multi_tenant: True lets a second master of this process use the first one's server
            (default: False).
        master_listen_fd: the number of a socket that listens already, for who serves; None opens
            one.
        use_libuv: taken from programs that give it; there is one server (default: True).

    >>> from taeda.distributed import TCPStore
    >>> store = TCPStore("127.0.0.1", 0, is_master=True)
    >>> store.add("steps", 2), store.add("steps", 1)
    (2, 3)
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = STORE_TIMEOUT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__()
        if not 0 <= port < 65536:
            raise ValueError(f"port {port} is outside of 0 to 65535")
        self._timeout = seconds_of(timeout)
        self._secret = env("STORE_SECRET").encode()
        self._host, self._port = host_name, port
        self._use_libuv = use_libuv
        self._free: list[_Connection] = []
        self._lock, self._pid = threading.Lock(), os.getpid()
        # for the server to come up; once it was there, it has gone if it is not
        self._patience = self._timeout
        self._server: Server | None = None
        if is_master:
            self._server, self._port = _serve(
                host_name, port, self._secret, master_listen_fd, multi_tenant
            )
        with self._connection():
            self._patience = _GRACE
        if wait_for_workers and world_size is not None:
            self._wait_for_workers(world_size)

    def _wait_for_workers(self, world_size: int) -> None:
        if world_size < 1:
            return
        if self.add("taeda/workers", 1) >= world_size:
            self.set("taeda/all workers", b"")
        try:
            self.wait(["taeda/all workers"])
        except DistStoreError:
            came = int(self.get("taeda/workers"))
            raise DistStoreError(
                f"{came} of {world_size} processes came to the store at {self._host}:{self._port} "
                f"within {self._timeout:g} s"
            ) from None

    @property
    def host(self) -> str:
        """The address of the server."""
        return self._host

    @property
    def port(self) -> int:
        """The port of the server."""
        return self._port

    @property
    def libuvBackend(self) -> bool:  # noqa: N802 - the public name
        """What was asked for by `use_libuv`. There is one server, on epoll."""
        return self._use_libuv

    def __repr__(self) -> str:
        return f"TCPStore({self._host!r}, {self._port}, is_master={self._server is not None})"

    # ---- requests ----

    @contextmanager
    def _connection(self) -> Iterator[_Connection]:
        """A connection of this thread's own for one request; a broken one is not used again."""
        with self._lock:
            if self._pid != os.getpid():  # a forked child must not share its parent's sockets
                self._free, self._pid = [], os.getpid()
            connection = self._free.pop() if self._free else None
        if connection is None:
            connection = _Connection(self._host, self._port, self._secret, self._patience)
        try:
            yield connection
        except BaseException:  # even an interrupt leaves half an answer behind
            connection.close()
            raise
        with self._lock:
            self._free.append(connection)

    def _ask(self, kind: str, *fields: bytes) -> list[bytes]:
        """The answer to a request that the server answers at once."""
        with self._connection() as connection:
            answer, found = connection.ask(KINDS[kind], fields, max(_GRACE, self._timeout))
        return self._checked(answer, found)

    def _ask_waiting(
        self, kind: str, keys: Sequence[str], seconds: float, *more: bytes
    ) -> list[bytes]:
        """The answer to a request for which the server may wait for others."""
        fields = [as_bytes(key, "key") for key in keys]
        with self._connection() as connection:
            answer, found = connection.ask_waiting(KINDS[kind], [*fields, *more], seconds)
        if answer == KINDS["missing"]:
            absent = [key.decode(errors="replace") for key in found] or list(keys)
            raise DistStoreError(
                f"wait timeout after {seconds:g} s: nobody set {', '.join(map(repr, absent))} "
                f"in the store at {self._host}:{self._port}"
            )
        return self._checked(answer, found)

    def _checked(self, answer: int, found: list[bytes]) -> list[bytes]:
        if answer == KINDS["error"]:
            raise DistStoreError(found[0].decode(errors="replace"))
        return found

    def set(self, key: str, value: str | bytes) -> None:
        self._ask("set", as_bytes(key, "key"), as_bytes(value))

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        if len(keys) != len(values):
            raise ValueError(f"multi_set got {len(keys)} keys and {len(values)} values")
        pairs = zip(keys, values, strict=True)
        self._ask("set", *(part for k, v in pairs for part in (as_bytes(k, "key"), as_bytes(v))))

    def get(self, key: str) -> bytes:
        return self._ask_waiting("get", [key], self._timeout)[0]

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        return self._ask_waiting("get", keys, self._timeout)

    def add(self, key: str, amount: int) -> int:
        added = str(as_amount(amount)).encode()
        return int(self._ask("add", as_bytes(key, "key"), added)[0])

    def compare_set(
        self, key: str, expected_value: str | bytes, desired_value: str | bytes
    ) -> bytes:
        values = as_bytes(expected_value), as_bytes(desired_value)
        return self._ask("compare", as_bytes(key, "key"), *values)[0]

    def append(self, key: str, value: str | bytes) -> None:
        self._ask("append", as_bytes(key, "key"), as_bytes(value))

    def check(self, keys: Sequence[str]) -> bool:
        return self._ask("check", *(as_bytes(key, "key") for key in keys))[0] == b"1"

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        self._ask_waiting("wait", keys, self._timeout if timeout is None else seconds_of(timeout))

    def delete_key(self, key: str) -> bool:
        return self._ask("delete", as_bytes(key, "key"))[0] == b"1"

    def num_keys(self) -> int:
        """How many keys there are, with the one in which the store counts its workers."""
        return int(self._ask("count")[0])

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put `value` at the end of the queue `key`."""
        self._ask("push", as_bytes(key, "key"), as_bytes(value))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """The oldest entry of the queue `key`; QueueEmptyError if there is none and `block` is False."""
        if block:
            return self._ask_waiting("pop", [key], self._timeout, b"1")[0]
        found = self._ask("pop", as_bytes(key, "key"), b"0")
        if not found:
            raise QueueEmptyError(f"queue {key!r} is empty")
        return found[0]

    def queue_len(self, key: str) -> int:
        """How many entries the queue `key` has."""
        return int(self._ask("length", as_bytes(key, "key"))[0])

    def ping(self) -> float:
        """Seconds that a word takes to the server and back."""
        start = time.perf_counter()
        self._ask("ping", b"taeda")
        return time.perf_counter() - start

    def _leave_will(self, key: str, value: str | bytes) -> _Connection:
        connection = _Connection(self._host, self._port, self._secret, self._patience)
        fields = [as_bytes(key, "key"), as_bytes(value)]
        self._checked(*connection.ask(KINDS["will"], fields, max(_GRACE, self._timeout)))
        return connection

    def clone(self) -> TCPStore:
        """Another client of the same server."""
        return TCPStore(self._host, self._port, timeout=self.timeout)

    def close(self) -> None:
        """Close the connections, and end the server if it is this process's."""
        with self._lock:
            free, self._free = self._free, []
        for connection in free:
            connection.close()
        if self._server is not None:
            _SERVERS.pop((self._host, self._port), None)
            self._server.close()
            self._server = None

    def __del__(self) -> None:
        for connection in getattr(self, "_free", ()):
            connection.close()


# ---- the master ----

_SERVERS: dict[tuple[str, int], Server] = {}


def _serve(
    host: str, port: int, secret: bytes, descriptor: int | None, multi_tenant: bool
) -> tuple[Server, int]:
    if multi_tenant and (host, port) in _SERVERS:
        return _SERVERS[host, port], port
    listener = socket.socket(fileno=descriptor) if descriptor is not None else _listen(host, port)
    port = listener.getsockname()[1]
    server = _SERVERS[host, port] = Server(listener, secret)
    return server, port


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise DistNetworkError(f"the address {host!r} is not known here: {error}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise DistNetworkError(
            f"cannot serve a store at {host}:{port}: {error.strerror}. Choose another port, or 0 "
            "for a free one"
        ) from None
    return listener


# ---- a client's connection ----


class _Connection:
    """One socket to a server that has accepted the secret."""

    def __init__(self, host: str, port: int, secret: bytes, seconds: float) -> None:
        self._where = f"{host}:{port}"
        until = time.monotonic() + seconds
        pause = 0.01
        while True:
            try:
                self._sock = socket.create_connection(
                    (host, port), max(0.1, until - time.monotonic())
                )
                break
            except OSError as error:
                if time.monotonic() + pause >= until:
                    raise DistNetworkError(
                        f"no store answers at {self._where} within {seconds:g} s: {error}. Does the process "
                        "with rank 0 run, and do MASTER_ADDR and MASTER_PORT name it on every rank?"
                    ) from None
            time.sleep(pause)
            pause = min(2 * pause, 0.5)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock.settimeout(max(1.0, until - time.monotonic()))
        self._greet(secret)

    def _greet(self, secret: bytes) -> None:
        try:
            greeting = self._exactly(wire.GREETING_BYTES)
            if not greeting.startswith(wire.MAGIC):
                raise DistNetworkError(f"what listens at {self._where} is no store of taeda")
            self._sock.sendall(wire.prove(secret, greeting))
            self._frame()
        except DistNetworkError:
            self.close()
            raise
        except (OSError, wire.Malformed):
            self.close()
            raise DistNetworkError(
                f"the store at {self._where} did not accept us: TAEDA_STORE_SECRET differs from its own"
            ) from None

    def ask(self, kind: int, fields: Sequence[bytes], seconds: float) -> tuple[int, list[bytes]]:
        """Send a request and read the answer. DistNetworkError if the server has gone."""
        try:
            self._sock.settimeout(seconds)
            self._sock.sendall(wire.pack(kind, fields))
            return self._frame()
        except TimeoutError:
            raise DistNetworkError(
                f"the store at {self._where} has been silent for {seconds:g} s"
            ) from None
        except (OSError, wire.Malformed) as error:
            raise DistNetworkError(
                f"the connection to the store at {self._where} broke: {error}"
            ) from None

    def ask_waiting(
        self, kind: int, fields: Sequence[bytes], seconds: float
    ) -> tuple[int, list[bytes]]:
        """As `ask`, but after `seconds` the request is taken back; a slow answer on its way still counts."""
        try:
            self._sock.settimeout(_GRACE)
            self._sock.sendall(wire.pack(kind, fields))
            self._sock.settimeout(seconds)
            try:
                head = self._sock.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                return self.ask(KINDS["cancel"], (), _GRACE)
            if not head:
                raise OSError("closed by the server")
            self._sock.settimeout(_GRACE)
            return self._frame()
        except (OSError, wire.Malformed) as error:
            raise DistNetworkError(
                f"the connection to the store at {self._where} broke: {error}"
            ) from None

    def _frame(self) -> tuple[int, list[bytes]]:
        (size,) = _LENGTH.unpack(self._exactly(4))
        return wire.unpack(self._exactly(size))

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._sock.recv(min(size - len(data), 1 << 20))
            if not part:
                raise wire.Malformed("closed by the server")
            data += part
        return bytes(data)

    def close(self) -> None:
        self._sock.close()
