"""Messages and file descriptors between a worker and its parent, over a pair of sockets."""

from __future__ import annotations

import array
import os
import socket
import struct
from collections.abc import Sequence

__all__ = ["MOST_DESCRIPTORS", "Channel"]

_HEAD = struct.Struct("<QI")  # bytes that follow, descriptors that come along
MOST_DESCRIPTORS = 64  # in one message


class Channel:
    """One end. Sending blocks until the other end has read enough; its death is a BrokenPipeError
    or an EOFError.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Both ends."""
        ours, theirs = socket.socketpair()
        return cls(ours), cls(theirs)

    def fileno(self) -> int:
        """For poll; -1 once closed."""
        return self.socket.fileno()

    def close(self) -> None:
        """The other end sees the end of the messages."""
        self.socket.close()

    def send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        """Send a message; copies of the descriptors go along."""
        head = _HEAD.pack(len(message), len(descriptors))
        along = []
        if descriptors:
            along = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        sent = self.socket.sendmsg([head, message], along)
        if sent < len(head) + len(message):
            self.socket.sendall(memoryview(head + message)[sent:])

    def receive(self) -> tuple[bytearray, list[int]]:
        """The next message and the descriptors that came along. EOFError when the other end is gone."""
        room = socket.CMSG_SPACE(MOST_DESCRIPTORS * array.array("i").itemsize)
        try:
            head, along, _, _ = self.socket.recvmsg(_HEAD.size, room)
            descriptors = _descriptors(along)
            head += self._exactly(_HEAD.size - len(head))
            nbytes, count = _HEAD.unpack(head)
            message = self._exactly(nbytes)
        except ConnectionError as error:
            raise EOFError from error
        if len(descriptors) != count:  # the system dropped what this process had no room for
            for fd in descriptors:
                os.close(fd)
            raise RuntimeError(
                f"file descriptors are used up: {count} came from a worker, {len(descriptors)} fitted; "
                "raise the limit (ulimit -n), or close files"
            )
        return message, descriptors

    def _exactly(self, nbytes: int) -> bytearray:
        data = bytearray(nbytes)
        view, done = memoryview(data), 0
        while done < nbytes:
            n = self.socket.recv_into(view[done:])
            if n == 0:
                raise EOFError
            done += n
        return data


def _descriptors(along: list[tuple[int, int, bytes]]) -> list[int]:
    found = array.array("i")
    for level, kind, data in along:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)
