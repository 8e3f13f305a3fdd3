"""Processes on this machine: are they alive, stopped, gone?
By file descriptors of processes, which cannot mistake a reused id.
"""

from __future__ import annotations

import os
import select
import threading

__all__ = ["Peers", "state_of"]


def state_of(pid: int) -> str:
    """'running', 'stopped' or 'gone', as the kernel says."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            letter = file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "gone"
    return {"T": "stopped", "t": "stopped", "Z": "gone", "X": "gone"}.get(letter, "running")


class Peers:
    """The processes of the other ranks of a group."""

    def __init__(self, pids: dict[int, int]) -> None:
        self.pids = pids
        self._poll, self._lock = select.poll(), threading.Lock()  # one thread at a time may poll
        self._ranks: dict[int, int] = {}
        self._gone: set[int] = set()
        for rank, pid in pids.items():
            try:
                descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                self._gone.add(rank)
            except OSError:  # an old kernel: /proc is asked instead
                continue
            else:
                self._ranks[descriptor] = rank
                self._poll.register(descriptor, select.POLLIN)

    def gone(self) -> list[int]:
        """The ranks whose process has ended."""
        with self._lock:
            if self._ranks:
                self._gone |= {self._ranks[descriptor] for descriptor, _ in self._poll.poll(0)}
            else:
                self._gone |= {rank for rank, pid in self.pids.items() if state_of(pid) == "gone"}
            return sorted(self._gone)

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in self._ranks:
            os.close(descriptor)
        self._ranks = {}
