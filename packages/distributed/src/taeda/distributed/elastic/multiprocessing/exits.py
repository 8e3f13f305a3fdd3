"""When processes ended, and what they left running."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Collection, Mapping

__all__ = ["Exits", "left_by", "signal_all"]


class Exits:
    """Notes the time at which each of some processes ends, by local rank, on a thread of its own:
    who looks from time to time sees several at once, and not which was the first.

    >>> import subprocess
    >>> program = subprocess.Popen(["true"])
    >>> exits = Exits({0: program.pid})
    >>> program.wait(), exits.place(0)  # the first that ended
    (0, 0)
    >>> exits.stop()
    """

    def __init__(self, pids: Mapping[int, int]) -> None:
        self.times: dict[int, float] = {}  # in the order of the ends
        self._ranks: dict[int, int] = {}
        for rank, pid in pids.items():
            # an old kernel, or it has gone: the order is unknown
            with contextlib.suppress(OSError):
                self._ranks[os.pidfd_open(pid)] = rank
        # its events come in the order of the ends, even those of one look at a busy machine
        self._ends = select.epoll()
        for descriptor in self._ranks:
            self._ends.register(descriptor, select.EPOLLIN)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="taedarun-exits", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        waiting = len(self._ranks)
        while waiting and not self._stop.is_set():
            for descriptor, _ in self._ends.poll(0.1):
                self.times[self._ranks[descriptor]] = time.time()
                self._ends.unregister(descriptor)
                waiting -= 1
        self._ends.close()
        for descriptor in self._ranks:
            os.close(descriptor)

    def place(self, rank: int) -> int:
        """Among the ends so far, that of one that has ended."""
        until = time.monotonic() + 0.5  # for the thread, on a busy machine
        while rank not in self.times and self._thread.is_alive() and time.monotonic() < until:
            time.sleep(0.005)
        order = list(self.times)
        return order.index(rank) if rank in order else len(order)

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join()


def left_by(sessions: Collection[int]) -> list[int]:
    """The processes that run in sessions of these numbers, without the leaders.

    >>> left_by({-1})  # no session has this number
    []
    """
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in sessions:
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if words[0] not in "ZX" and int(words[3]) in sessions:
            found.append(int(name))
    return found


def signal_all(pids: Collection[int], number: int) -> None:
    """Send a signal; one that is stopped is woken to hear it.

    >>> import subprocess
    >>> program = subprocess.Popen(["sleep", "60"])
    >>> signal_all([program.pid], signal.SIGTERM)
    >>> program.wait()
    -15
    """
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, number)
