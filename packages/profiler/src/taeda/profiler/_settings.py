"""What can be asked of a profile, and what this build of taeda answers."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from taeda._core_api import warn

__all__ = ["ProfilerActivity", "Settings", "chosen", "kineto_available", "supported_activities"]


class ProfilerActivity(enum.Enum):
    """Whose work is recorded. Only the processor's can be.

    >>> from taeda import profiler
    >>> with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as found:
    ...     _ = taeda.ones(2) + 1
    >>> "aten::add" in [row.key for row in found.key_averages()]
    True
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5

    # found on the class too, as documented
    name = property(lambda self: self._name_, doc="Its name.")


@dataclass(frozen=True)
class Settings:
    """What is noted of each operation."""

    shapes: bool = False
    memory: bool = False
    stack: bool = False
    flops: bool = False
    modules: bool = False


def supported_activities() -> set[ProfilerActivity]:
    """The activities that can be recorded: those of the processor.

    >>> taeda.profiler.ProfilerActivity.CPU in taeda.profiler.supported_activities()
    True
    """
    return {ProfilerActivity.CPU}


def chosen(activities: Iterable[ProfilerActivity] | None) -> set[ProfilerActivity]:
    """The activities of a request; TypeError for what is none, a warning for those that nothing
    here can record.
    """
    wanted = supported_activities() if activities is None else set(activities)
    for activity in wanted:
        if not isinstance(activity, ProfilerActivity):
            raise TypeError(
                f"profile: activities holds {activity!r}, and takes members of "
                "taeda.profiler.ProfilerActivity"
            )
    if deaf := sorted(a.name for a in wanted - supported_activities()):
        warn(
            f"profile: only ProfilerActivity.CPU can be recorded, and nothing will be for {', '.join(deaf)}"
        )
    return wanted & supported_activities()


def kineto_available() -> bool:
    """True: profiles have schedules and traces, which is what libraries ask.

    >>> taeda.profiler.kineto_available()
    True
    """
    return True
