"""Waiting with a deadline: spin a little, then yield, then sleep; look for dead peers now and then.

Who waits long sleeps: a rank that goes on asking takes time from one that still computes, most of
all where the two are threads of one core.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

__all__ = ["LOOK_EVERY", "Deadline", "wait_until"]

LOOK_EVERY = 0.02  # seconds between looks at the peers
SPINS = 60
YIELD_FOR = 200e-6  # seconds


class Deadline:
    """A time that a wait must not pass."""

    __slots__ = ("at", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds, self.at = seconds, time.monotonic() + seconds

    def passed(self) -> bool:
        return time.monotonic() >= self.at

    def left(self) -> float:
        return max(0.0, self.at - time.monotonic())


def wait_until(
    ready: Callable[[], bool], deadline: Deadline, look: Callable[[], None], patient: bool = False
) -> bool:
    """Wait for `ready()`; False after the deadline. `look()` may raise, and is called every 20 ms.

    A `patient` wait sleeps early: it belongs to a thread beside one that computes.
    """
    for _ in range(4 if patient else SPINS):
        if ready():
            return True
    pause, now = 20e-6, time.monotonic()
    next_look, awake_till = now + LOOK_EVERY, now if patient else now + YIELD_FOR
    while not ready():
        if now < awake_till:
            os.sched_yield()
        else:
            time.sleep(pause)
            pause = min(pause * 1.2, 1e-3)
        now = time.monotonic()
        if now >= next_look:
            look()
            if now >= deadline.at:
                return ready()
            next_look = now + LOOK_EVERY
    return True
