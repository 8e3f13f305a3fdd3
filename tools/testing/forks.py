"""Forked processes in tests, and what they leave open."""

from __future__ import annotations

import gc
import os
import select
import signal
import time
from collections.abc import Callable

__all__ = ["SANITIZED", "descriptors", "forked"]

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
START_SECONDS = 60


def forked(action: Callable[[], object], seconds: float | None = None) -> int:
    """Run `action` in a forked process, killed after `seconds`: its exit code, 1 if it raised; the
    signal that ended it, negated.
    """
    pid = fork_that_starts() if SANITIZED else os.fork()
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


def fork_that_starts() -> int:
    """`os.fork`, once more where the child cannot begin: unlike glibc's, the sanitizer's allocator
    is not put in order at a fork, and a lock that another thread held stays locked in the child for
    ever.
    """
    for _ in range(5):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(write, b"!")
            os.close(read)
            os.close(write)
            return 0
        os.close(write)
        started = select.select([read], [], [], START_SECONDS)[0]
        os.close(read)
        if started:
            return pid
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    raise RuntimeError(f"five forked processes did not begin within {START_SECONDS} s")


def descriptors() -> int:
    """How many descriptors this process has open; those of objects that are garbage are not counted."""
    gc.collect()
    return len(os.listdir("/proc/self/fd"))
