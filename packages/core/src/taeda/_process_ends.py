"""Ends of processes of multiprocessing, also where the system keeps none of them.

Where SIGCHLD is ignored, which programs inherit, the kernel reaps children at once: multiprocessing
asks for their exit codes, is told that there is no such child, and believes for ever that they run.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = ["UNKNOWN", "note_end"]

UNKNOWN = 1 << 16  # the exit code of a process that ended without one that could be read


def note_end(process: Any) -> None:
    """Let multiprocessing know of a child that has ended, and of which the system told nobody."""
    popen = getattr(process, "_popen", None)
    if popen is None or popen.method == "forkserver" or process.exitcode is not None:
        return  # the children of a server of forks are its own: it tells how they end
    try:
        pid, status = os.waitpid(popen.pid, os.WNOHANG)
    except ChildProcessError:
        popen.returncode = UNKNOWN
    else:
        if pid:
            popen.returncode = os.waitstatus_to_exitcode(status)
