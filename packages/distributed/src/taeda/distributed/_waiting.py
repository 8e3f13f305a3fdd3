"""Waiting with a deadline: spin a little, then yield, then sleep; look for dead peers now and then.

Who waits long sleeps: a rank that goes on asking takes time from one that still computes, most of
all where the two are threads of one core.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

__all__ = ["LOOK_EVERY", "Deadline", "wait_until"]

LOOK_EVERY = 0.02  # seconds between looks at the peers
SPINS = 60
YIELD_FOR = 200e-6  # seconds
MOVE_FOR = 2.0  # seconds
ASKS = 16  # in a row, where each moves a piece and a sleep of 0 takes 50 us


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
    ready: Callable[[], bool],
    deadline: Deadline,
    look: Callable[[], None],
    patient: bool = False,
    moves: bool = False,
) -> bool:
    """Wait for `ready()`; False after the deadline. `look()` may raise, and is called every 20 ms.

    A `patient` wait sleeps early: it belongs to a thread beside one that computes. Where asking is
    what `moves` the values, as MPI does piece by piece, no wait sleeps in the first two seconds.
    """
    for _ in range(4 if patient else SPINS):
        if ready():
            return True
    if moves and patient:
        ready = partial(_asked_often, ready)
    pause, now = 20e-6, time.monotonic()
    next_look, awake_till = now + LOOK_EVERY, now + _awake_for(patient, moves)
    while not ready():
        if now < awake_till:
            _let_others(patient)
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


def _asked_often(ready: Callable[[], bool]) -> bool:
    return any(ready() for _ in range(ASKS))


def _awake_for(patient: bool, moves: bool) -> float:
    if moves:
        return MOVE_FOR
    return 0.0 if patient else YIELD_FOR


def _let_others(patient: bool) -> None:
    """Let other processes run; a patient thread the interpreter's other threads, too."""
    if patient:
        time.sleep(0)
    else:
        os.sched_yield()
