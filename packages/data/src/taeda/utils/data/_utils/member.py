"""One worker as its parent sees it: its process, its channel, and the segments it has lent."""

from __future__ import annotations

import os
import pickle
import select
from collections import deque
from contextlib import suppress
from typing import Any

from taeda import Tensor
from taeda._core_api import runtime as _core

from . import segments
from .channel import Channel
from .messages import Epoch, Reply, Task
from .parcel import unpack
from .status import Status

__all__ = ["Member"]

_LOOKED_AT = 8  # segments in use that are looked at for each task sent


class Member:
    """One worker: its process, its channel, and the segments it has lent."""

    def __init__(self, process: Any, channel: Channel) -> None:
        self.process = process
        self.pid: int = process.pid
        self.channel = channel
        self.life = _life_of(process)  # readable when the process has ended
        self.status: Status | None = None  # once it has said hello
        self.epoch = 0
        self.asked: deque[Task] = deque()  # in this epoch and not answered, oldest first
        self._memories: dict[int, Tensor] = {}
        self._lent: deque[int] = deque()
        self._forgotten: list[int] = []

    def close(self) -> None:
        """Give back what tells of the worker."""
        os.close(self.life)
        if self.status:
            self.status.close()
            self.status = None

    def hear_hello(self) -> None:
        """Of a worker that is gone: it may have said hello before, which tells what it was at."""
        with suppress(EOFError, OSError, ValueError):
            if self.status is None and select.select([self.channel.fileno()], [], [], 0)[0]:
                self.receive()

    def begin(self, epoch: Epoch) -> None:
        """Announce an epoch."""
        self.channel.send(pickle.dumps(epoch, -1))
        self.epoch = epoch.serial
        self.asked.clear()

    def ask(self, number: int, index: Any) -> None:
        """Send a task, and with it which segments are free again."""
        short = segments.descriptors_are_short(self.channel.fileno())
        forgotten, self._forgotten = self._forgotten, []
        task = Task(number, index, self._returned(), forgotten, not short)
        self.channel.send(pickle.dumps(task, -1))
        self.asked.append(task)

    def _returned(self) -> list[int]:
        free = []
        for _ in range(min(_LOOKED_AT, len(self._lent))):
            segment = self._lent.popleft()
            if _core.storage_owners(self._memories[segment]) == 1:
                free.append(segment)
            else:
                self._lent.append(segment)
        return free

    def receive(self) -> Reply | None:
        """The next answer; None for the first message, which says hello.
        EOFError from a worker that is gone.
        """
        message, descriptors = self.channel.receive()
        if self.status is None:
            self.status = Status(descriptors[0])
            return None
        reply: Reply = pickle.loads(message)
        for (segment, nbytes), fd in zip(reply.made, descriptors, strict=True):
            self._memories[segment] = segments.map_bytes(fd, nbytes)
        for segment in reply.dropped:
            self._memories.pop(segment, None)
        if reply.epoch == self.epoch:
            self.asked.popleft()
        return reply

    def unpacked(self, reply: Reply) -> Any:
        """The batch of an answer. Its segments are free again when nobody holds it."""
        memories = [(self._memories[segment], nbytes) for segment, nbytes in reply.segments]
        self.forget(reply)
        data = reply.data
        if isinstance(data, int):  # the first segment holds the pickle
            data = memoryview(memories.pop(0)[0])[:data]
        return unpack(data, memories)

    def forget(self, reply: Reply) -> None:
        """Nobody wants this answer: what it lies on is free."""
        self._lent += dict.fromkeys(segment for segment, _ in reply.segments)

    def keep_lent(self) -> None:
        """What is lent now is never written again: a forked process sees it, too."""
        for segment in self._lent:
            del self._memories[segment]
        self._forgotten += self._lent
        self._lent.clear()


def _life_of(process: Any) -> int:
    """A descriptor that tells of a process's end, even if its own children go on."""
    try:
        return os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # another system, or a sandbox that forbids it
        return os.dup(process.sentinel)
