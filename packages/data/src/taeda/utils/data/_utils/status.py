"""What a worker is doing, readable by its parent even when the worker is stuck or dead.

One anonymous file: numbers in its first page, and behind it the Python stacks that `faulthandler`
writes, on request by a signal or when the process is about to die of one. Neither needs the
worker's interpreter lock.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import re
import signal
import tempfile

__all__ = ["BETWEEN", "COLLATING", "FETCHING", "SENDING", "STARTING", "Status"]

STARTING, BETWEEN, FETCHING, COLLATING, SENDING = range(5)
_TASK, _PHASE, _POSITION = range(3)
_WORDS = 3
_SIZE = 4096  # of the page; stacks begin behind it
_MOST_TEXT = 1 << 16
# how the process came to be the worker that it is
_OUTER_FRAMES = re.compile(r"(in run_worker)\n(?:  File .*\n?)+")
# a real-time signal, which libraries hardly use; SIGUSR1 where there are none
_SIGNAL = signal.SIGRTMIN + 9 if hasattr(signal, "SIGRTMIN") else signal.SIGUSR1


def _new_file() -> int:
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("taeda-status")
    else:
        fd, path = tempfile.mkstemp(prefix="taeda-status-")
        os.unlink(path)
    os.ftruncate(fd, _SIZE)
    return fd


class Status:
    """The same page in both processes."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        try:
            self._page = mmap.mmap(fd, _SIZE)
        except BaseException:
            os.close(fd)
            raise
        self.words = memoryview(self._page)[: 8 * _WORDS].cast("q")

    # ---- in the worker ----

    @classmethod
    def of_this_process(cls) -> Status:
        """A page for this process, where its stacks go from now on."""
        status = cls(_new_file())
        os.lseek(status.fd, _SIZE, os.SEEK_SET)
        faulthandler.enable(file=status.fd, all_threads=False)
        faulthandler.register(_SIGNAL, file=status.fd, all_threads=False)
        return status

    @staticmethod
    def leave_signals_to_main() -> None:
        """Called by helper threads: a stack that is asked for shall be that of the main thread."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [_SIGNAL])

    def begin(self, task: int) -> None:
        """A task begins."""
        words = self.words
        words[_TASK], words[_PHASE], words[_POSITION] = task, FETCHING, -1

    def at(self, position: int) -> None:
        """The sample at `position` of the batch comes next."""
        self.words[_POSITION] = position

    def collating(self) -> None:
        """The samples are there and are being joined."""
        self.enter(COLLATING)

    def enter(self, phase: int) -> None:
        """Another part of the work begins."""
        self.words[_PHASE] = phase

    # ---- in the parent ----

    @property
    def now(self) -> tuple[int, int, int]:
        """(task, phase, position of the sample in its batch or -1)"""
        task, phase, position = self.words
        return task, phase, position

    def stack(self, since: int = _SIZE) -> str:
        """The stacks that were written behind byte `since` of the file; '' without any."""
        text = os.pread(self.fd, _MOST_TEXT, since).decode(errors="replace").strip()
        return _OUTER_FRAMES.sub(r"\1", text)

    def ask_for_stack(self, pid: int) -> int:
        """Let the worker write its Python stack as it is now; the result is where it will stand."""
        before = os.fstat(self.fd).st_size
        os.kill(pid, _SIGNAL)
        return before

    def answered(self, since: int) -> bool:
        """Whether there is a stack behind byte `since`, down to its last frame."""
        return self.stack(since).endswith(("in run_worker", "..."))

    def close(self) -> None:
        """Give back the page."""
        self.words.release()
        self._page.close()
        os.close(self.fd)
