# ruff: noqa: N802 - names of the standard library
"""Connections whose messages bring file descriptors along, each message whole or not at all.

A message is one packet of a Unix socket (SOCK_SEQPACKET): a header, the pickled bytes, and the
descriptors of the shared memory they speak of. So a receiver needs no living sender, several may
send and receive without a lock, and a process killed half-way leaves no half message. Bytes too
large for a packet travel in a memfd of their own.

    header │ bytes                 + descriptors of tensors
    header │ length                + memfd with the bytes, descriptors of tensors
    more than 250 descriptors: one socket, in which they wait
"""

from __future__ import annotations

import array
import errno
import io
import os
import socket
import struct
import threading
import time
from multiprocessing import connection as _standard
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

__all__ = ["Connection", "Parcel", "Pipe", "carried", "drop_arrived", "pack"]

_KIND = (socket.AF_UNIX, socket.SOCK_SEQPACKET)
_HEADER = struct.Struct("!BI")  # flags, number of descriptors
_SPILLED, _BUNDLED = 1, 2
_PACKET = 64 << 10  # larger ones might be split by the system
_MOST = 250  # descriptors of one packet; the system's limit is 253
_SPACE = socket.CMSG_SPACE(4 * (_MOST + 1))


class _State(threading.local):
    """What the message that this thread packs or unpacks has by way of descriptors."""

    packing: Parcel | None = None
    feeding: Parcel | None = None
    arrived: list[int]

    def __init__(self) -> None:
        self.arrived = []


_here = _State()


# ---- what a message is made of ----


class Parcel:
    """A pickled object with the descriptors it needs; `kept` are what they belong to, alive until
    all is sent.
    """

    def __init__(self) -> None:
        self.data: Any = b""
        self.fds: list[int] = []
        self.kept: list[Any] = []

    def carry(self, fd: int, owner: Any) -> int:
        """The place of a descriptor among those of the message."""
        if fd in self.fds:
            return self.fds.index(fd)
        self.fds.append(fd)
        self.kept.append(owner)
        return len(self.fds) - 1

    def __reduce__(self) -> Any:  # a feeder thread pickles what it sends next
        _here.feeding = self
        return Parcel, ()


def pack(value: Any) -> Parcel:
    """Pickle a value; its tensors are moved into shared memory."""
    before, made = _here.packing, Parcel()
    _here.packing = made
    try:
        made.data = ForkingPickler.dumps(value)
    finally:
        _here.packing = before
    return made


class Arrived:
    """A descriptor that came with the message now being read."""

    def __init__(self, place: int) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return Arrived, (self.place,)

    def detach(self) -> int:
        """The descriptor, for the caller to keep; every handle to one storage may ask."""
        fds = _here.arrived
        if self.place >= len(fds):
            raise RuntimeError(
                "the shared memory of this message is gone: read messages with recv() or get(), once, "
                "in the thread that received them"
            )
        return os.dup(fds[self.place])


def carried(fd: int, owner: Any) -> Arrived | None:
    """The handle of a descriptor in the message that is being packed; None if none is."""
    return Arrived(_here.packing.carry(fd, owner)) if _here.packing is not None else None


def drop_arrived() -> None:
    """Close the descriptors of the message that was read."""
    fds, _here.arrived = _here.arrived, []
    for fd in fds:
        os.close(fd)


# ---- connections ----


class Connection(_standard.Connection):
    """One end of a pipe; what it sends arrives whole, with its tensors, even if the sender is gone
    by then.
    """

    def __init__(self, handle: int, readable: bool = True, writable: bool = True) -> None:
        super().__init__(handle, readable, writable)
        self._socket = socket.socket(*_KIND, 0, fileno=handle)  # the handle stays the owner
        self._socket.setblocking(True)

    def _close(self) -> None:
        os.close(self._socket.detach())

    def send(self, obj: Any) -> None:
        """Send an object; what it refuses to pickle is raised here."""
        self._check_closed()  # type: ignore[attr-defined]
        self._check_writable()  # type: ignore[attr-defined]
        self.send_parcel(pack(obj))

    def recv(self) -> Any:
        """The next object; EOFError when the other end is closed."""
        try:
            return super().recv()
        finally:
            drop_arrived()

    def send_parcel(self, parcel: Parcel) -> None:
        """Send what `pack` made."""
        self._transmit(parcel.data, parcel.fds)

    def send_fed(self, buf: Any) -> None:
        """What the feeder thread of a queue calls with the pickle of a Parcel: send that one."""
        parcel, _here.feeding = _here.feeding, None
        if parcel is None:
            self._transmit(buf, [])
        else:
            self.send_parcel(parcel)

    def _send_bytes(self, buf: Any) -> None:
        self._transmit(buf, [])

    def _transmit(self, body: Any, fds: list[int]) -> None:
        own: list[int] = []
        flags = 0
        try:
            if len(body) > _PACKET:
                own.append(_spill(body))
                flags, fds, body = _SPILLED, [*own, *fds], b""
            count = len(fds)
            if count > _MOST:
                own.append(_bundle(fds))
                flags, fds = flags | _BUNDLED, own[-1:]
            _send(self._socket, [_HEADER.pack(flags, count), body], fds)
        finally:
            for fd in own:
                os.close(fd)

    def _recv_bytes(self, maxsize: int | None = None) -> io.BytesIO | None:
        body = self.receive(0)
        if maxsize is not None and len(body) > maxsize:
            return None
        made = io.BytesIO(body)
        made.seek(len(body))  # as if just written: the base asks where it stands
        return made

    def receive(self, flags: int = socket.MSG_DONTWAIT) -> bytes:
        """The bytes of the next message; its descriptors wait in this thread.
        BlockingIOError if there is none.
        """
        data, fds = _receive(self._socket, flags)
        drop_arrived()
        if not data:
            raise EOFError
        flags, count = _HEADER.unpack_from(data)
        if flags & _BUNDLED:
            fds = _unbundle(fds[0])
        _here.arrived = fds
        if len(fds) != count:
            drop_arrived()
            raise RuntimeError(
                f"a message came with {count} file descriptors, and this process had room for {len(fds)}: "
                "raise the limit (ulimit -n), or use set_sharing_strategy('file_system') in the sender"
            )
        return _read(fds.pop(0)) if flags & _SPILLED else data[_HEADER.size :]


def Pipe(duplex: bool = True) -> tuple[Connection, Connection]:
    """Two ends of a pipe; with duplex=False the first only receives and the second only sends."""
    one, two = socket.socketpair(*_KIND)
    return Connection(one.detach(), writable=duplex), Connection(two.detach(), readable=duplex)


def _reduce(end: Connection) -> Any:
    return _rebuild, (DupFd(end.fileno()), end.readable, end.writable)


def _rebuild(handle: Any, readable: bool, writable: bool) -> Connection:
    return Connection(handle.detach(), readable, writable)


ForkingPickler.register(Connection, _reduce)


# ---- packets ----


def _send(to: socket.socket, parts: list[Any], fds: list[int], flags: int = 0) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    pause = 0.0005
    while True:
        try:
            to.sendmsg(parts, rights, flags)
            return
        except OSError as error:
            if error.errno != errno.ETOOMANYREFS:
                raise
        time.sleep(pause)  # too many descriptors under way, as a full pipe: wait for a reader
        pause = min(2 * pause, 0.05)


def _receive(source: socket.socket, flags: int) -> tuple[bytes, list[int]]:
    data, extra, after, _ = source.recvmsg(
        _HEADER.size + _PACKET, _SPACE, flags | socket.MSG_CMSG_CLOEXEC
    )
    fds = array.array("i")
    for level, kind, content in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
    if after & socket.MSG_CTRUNC and not fds:
        return data, []  # the caller sees that some are missing
    return data, fds.tolist()


def _bundle(fds: list[int]) -> int:
    """A socket in which the descriptors wait."""
    one, two = socket.socketpair(*_KIND)
    with one:
        for i in range(0, len(fds), _MOST):
            _send(one, [b"+"], fds[i : i + _MOST], socket.MSG_DONTWAIT)
    return two.detach()


def _unbundle(fd: int) -> list[int]:
    found: list[int] = []
    with socket.socket(*_KIND, 0, fileno=fd) as source:
        while True:
            data, fds = _receive(source, 0)
            found += fds
            if not data:
                return found


def _spill(body: Any) -> int:
    fd = os.memfd_create("taeda-message", os.MFD_CLOEXEC)
    view = memoryview(body)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)  # the place in the file travels too
    return fd


def _read(fd: int) -> bytes:
    with open(fd, "rb", buffering=0) as file:
        return file.read()
