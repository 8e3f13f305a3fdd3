"""A file of events, and the thread that writes it while the program goes on.

An add appends to a deque and rings a bell every `max_queue` events: neither takes a lock, so a
handler of signals can write what is left whatever it interrupted.
"""

# tensorboard is optional, and its messages are made when they are imported
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import queue
import signal
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from taeda._core_api import warn
from taeda._core_api.files import crc32c
from tensorboard.compat.proto.event_pb2 import Event, SessionLog

from ._files import new_file

__all__ = ["EventFile", "Fill", "record", "restarted"]

#: fills an event in; runs in the writing thread
Fill: TypeAlias = Callable[[Event], None]
_Item: TypeAlias = "tuple[Fill, int | None, float | None]"

_SLACK = 100  # so many times `max_queue` events may wait before an add waits for the file
_numbers = itertools.count()
_open: set[EventFile] = set()  # those that are not closed


class EventFile:
    """Events to one new file in `folder`, in the order of the adds.

    `max_queue` events are written together, and all that wait every `flush_secs` seconds. A disk
    that is full, or a file that cannot be written, is a warning of the next call, once; the events
    are lost and the file ends with a whole record.
    """

    def __init__(self, folder: str, max_queue: int, flush_secs: float, suffix: str) -> None:
        self.folder, self.suffix = folder, suffix
        self.max_queue, self.flush_secs = max(1, max_queue), flush_secs
        self.closed = self._left = False
        self._writing = threading.Lock()  # held by whoever writes, for one batch
        self._failed: BaseException | None = None
        self._warned = False
        self._begin()
        _open.add(self)
        _on_sigterm()

    def _begin(self) -> None:
        """A new file with its first record, and no thread yet."""
        name = (
            f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
            f".{next(_numbers)}{self.suffix}"
        )
        self._file = new_file(self.folder, name, self.flush_secs)
        self.path, self._pid = self._file.path, os.getpid()
        self._waiting: deque[_Item] = deque()
        self._bell: queue.SimpleQueue[queue.SimpleQueue[None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.add(lambda event: setattr(event, "file_version", "brain.Event:2"), None, None)

    # ---- the program's side ----

    def add(self, fill: Fill, step: int | None, walltime: float | None) -> None:
        """Write an event later. What went wrong since the last call is said here."""
        if self.closed:
            raise RuntimeError(f"SummaryWriter: {self.path} is closed; nothing can be added")
        if self._pid != os.getpid():  # a child of a fork: the parent writes what waited
            self._writing = threading.Lock()
            self._begin()
        if self._failed is not None:
            self._say()
        self._waiting.append((fill, step, time.time() if walltime is None else walltime))
        count = len(self._waiting)
        if count % self.max_queue == 0 or self._thread is None:
            self._ring(None)
            if count >= self.max_queue * _SLACK:
                self.flush()

    def _ring(self, answer: queue.SimpleQueue[None] | None) -> None:
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._serve, name="taeda-tensorboard", daemon=True
            )
            self._thread.start()
        self._bell.put(answer)

    def flush(self) -> None:
        """Return when all that was added is in the file."""
        if self._pid != os.getpid():
            return  # nothing was added in this child
        if self._waiting and self._thread is not None and self._thread.is_alive():
            answer: queue.SimpleQueue[None] = queue.SimpleQueue()
            self._bell.put(answer)
            while self._thread.is_alive():
                try:
                    answer.get(timeout=1)
                    break
                except queue.Empty:  # a long picture, or a thread that just ended
                    continue
        self.write(through=True)
        if self._failed is not None:
            self._say()

    def close(self) -> None:
        """Write what waits and end the file; a second call does nothing."""
        if self.closed or self._pid != os.getpid():
            return
        self.closed = True
        try:
            self.flush()
        finally:
            self._end()
            self._bell.put(None)  # the thread sees that the file is closed

    def leave(self) -> None:
        """The program has no writer of this file any more: the thread ends it. Takes no lock, as a
        collection of garbage calls it wherever it happens to run.
        """
        self._left = True
        self._bell.put(None)

    def _end(self) -> None:
        self._file.close()
        _open.discard(self)
        _off_sigterm()

    def _say(self) -> None:
        """Raise what the writing thread met; of a file that cannot be written, warn once."""
        failed, self._failed = self._failed, None
        if not isinstance(failed, OSError):
            assert failed is not None
            raise failed
        if not self._warned:
            self._warned = True
            fate = self._file.failing
            warn(f"SummaryWriter: {self.path} cannot be written, {fate}: {failed}")

    # ---- the writing side ----

    def write(self, patience: float = -1, *, through: bool = False) -> None:
        """Write all that waits, `through` to an address; waits for another writer as long as `patience`
        says.
        """
        if not self._writing.acquire(timeout=patience):
            return
        try:
            while self._waiting:
                self._write_batch([self._waiting.popleft() for _ in range(len(self._waiting))])
            if through:
                self._try(self._file.flush)
        finally:
            self._writing.release()

    def _serve(self) -> None:
        """Write whenever the bell rings, and every so many seconds, until the file ends."""
        bell = self._bell
        while True:
            late = False
            try:
                answer = bell.get(timeout=self.flush_secs)
            except queue.Empty:
                answer, late = None, True
            if not self.closed:
                self.write(through=late or self._left)
            if answer is not None:
                answer.put(None)
            if self._left and not self.closed:
                self.closed = True
                self._end()
            if self.closed:
                return

    def _write_batch(self, items: list[_Item]) -> None:
        records = []
        for fill, step, walltime in items:
            try:
                records.append(record(_encoded(fill, step, walltime)))
            except Exception as error:  # noqa: BLE001 - raised by the program's next call
                self._failed = error
        self._try(self._file.write_all, memoryview(b"".join(records)))

    def _try(self, call: Callable[..., None], *args: Any) -> None:
        """The program's next call says that the file cannot be written."""
        try:
            call(*args)
        except OSError as error:
            self._failed = error


def record(data: bytes) -> bytes:
    """One record of an event file: length, its checksum, the bytes, theirs.

    The same bytes as tensorboard's RecordWriter, whose checksum in Python takes 17 us of a scalar's 20.
    """
    size = struct.pack("<Q", len(data))
    return b"".join((size, _checksum(size), data, _checksum(data)))


def _checksum(data: bytes) -> bytes:
    """CRC-32C, turned and shifted as the format asks."""
    found = crc32c(data)
    return struct.pack("<I", ((found >> 15 | found << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _encoded(fill: Fill, step: int | None, walltime: float | None) -> bytes:
    event = Event(wall_time=walltime, step=step or 0)
    fill(event)
    return event.SerializeToString()


def restarted(event: Event) -> None:
    """Readers forget what another file of the run has of this step and later ones."""
    event.session_log.status = SessionLog.START


# ---- the end of the process ----


@atexit.register
def _close_all() -> None:
    """Also after an exception that nobody caught."""
    with contextlib.ExitStack() as files:
        for file in list(_open):
            files.callback(file.close)


def _on_sigterm() -> None:
    """Write what waits when the process is told to end, where nobody else handles that."""
    _exchange(signal.SIG_DFL, _terminated)


def _off_sigterm() -> None:
    if not _open:
        _exchange(_terminated, signal.SIG_DFL)


def _exchange(old: Any, new: Any) -> None:
    main = threading.current_thread() is threading.main_thread()  # others may not
    if main and signal.getsignal(signal.SIGTERM) is old:
        signal.signal(signal.SIGTERM, new)


def _terminated(number: int, frame: Any) -> None:
    try:
        for file in list(_open):
            if file._pid == os.getpid():
                file.write(patience=5, through=True)
                file._file.close()
    finally:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
