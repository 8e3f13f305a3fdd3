"""Forked processes in tests, and what they leave open."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable

__all__ = ["descriptors", "forked"]


def forked(action: Callable[[], object], seconds: float | None = None) -> int:
    """Run `action` in a forked process, killed after `seconds`: its exit code, 1 if it raised; the signal that ended it, negated."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def descriptors() -> int:
    """How many descriptors this process has open; those of objects that are garbage are not counted."""
    gc.collect()
    return len(os.listdir("/proc/self/fd"))
