"""Which steps of a long run are recorded."""

from __future__ import annotations

import enum
from collections.abc import Callable

__all__ = ["ProfilerAction", "always", "schedule"]


class ProfilerAction(enum.Enum):
    """What a profile does during one step.

    >>> from taeda.profiler import schedule
    >>> plan = schedule(wait=1, warmup=1, active=1)
    >>> [plan(step).name for step in range(3)]
    ['NONE', 'WARMUP', 'RECORD_AND_SAVE']
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def always(step: int) -> ProfilerAction:
    """Record every step."""
    return ProfilerAction.RECORD


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Cycles of `wait` idle steps, `warmup` steps that are thrown away and `active` recorded ones,
    after `skip_first` steps.

    `repeat` cycles, or without end if it is 0. If `skip_first_wait` is not 0, the first cycle
    begins without waiting. ValueError for a negative number, or if nothing is active.

    Args:
        wait: how many steps are left out at the beginning of a cycle, at least 0
        warmup: how many steps are watched and thrown away, at least 0
        active: how many steps are recorded, above 0
        repeat: how many cycles; 0 for no end (default: 0)
        skip_first: how many steps are left out before the first cycle (default: 0)
        skip_first_wait: 1 to leave out the wait of the first cycle (default: 0)

    >>> plan = schedule(wait=1, warmup=1, active=2)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    numbers = {"wait": wait, "warmup": warmup, "repeat": repeat, "skip_first": skip_first}
    for name, value in numbers.items():
        if value < 0:
            raise ValueError(f"schedule: {name} is {value}, and has to be 0 or more")
    if active <= 0:
        raise ValueError(f"schedule: active is {active}: a cycle records at least one step")
    length = wait + warmup + active

    def plan(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"schedule: steps count from 0, and {step} came")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        if repeat and step // length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return plan
