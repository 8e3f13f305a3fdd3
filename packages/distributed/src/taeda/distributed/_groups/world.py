"""The groups of this process. Threads that use the backend `inproc` have a world each."""

from __future__ import annotations

import threading
from typing import Any

from .group import ProcessGroup

__all__ = ["GroupMember", "World", "group", "the_group", "world"]


class World:
    """The default group, the others, and how many were made so far."""

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.groups: list[ProcessGroup] = []
        self.count = 0
        self.breakpoints = 0  # calls of `breakpoint`


class _Own(threading.local):
    """What a thread has of its own; a name that is not there costs as much as many collectives' checks."""

    world: World | None = None


_process, _threads = World(), _Own()


def world() -> World:
    """This thread's world if it has one, else the process's."""
    return _threads.world or _process


def enter_thread_world() -> World:
    """Give this thread a world of its own."""
    _threads.world = made = World()
    return made


def leave_thread_world() -> None:
    """Go back to the process's world."""
    _threads.world = None


class _NonMember:
    """What `new_group` gives to a process that is not in the group."""

    def __repr__(self) -> str:
        return "GroupMember.NON_GROUP_MEMBER"


class _Meta(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:  # noqa: N802 - the public name
        """The default group."""
        return world().default


class group(metaclass=_Meta):
    """`group.WORLD` is the default group.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.group.WORLD.size()
    1
    >>> dist.destroy_process_group()
    """


class GroupMember(metaclass=_Meta):
    """`GroupMember.WORLD` is the default group; NON_GROUP_MEMBER stands for a group that one is not in.

    >>> from taeda import distributed as dist
    >>> dist.GroupMember.WORLD is None  # before init_process_group
    True
    """

    NON_GROUP_MEMBER: Any = _NonMember()


def the_group(chosen: Any, what: str) -> ProcessGroup | None:
    """The group that is meant: the default one for None; None if this process is no member.

    ValueError before `init_process_group`, TypeError for what is no group.
    """
    if chosen is None:
        default = world().default
        if default is None:
            raise ValueError(
                f"{what}: there is no default process group yet; call init_process_group first, in a process "
                "started by taedarun, mp.spawn or mpiexec"
            )
        return default
    if chosen is GroupMember.NON_GROUP_MEMBER:
        return None
    if not isinstance(chosen, ProcessGroup):
        raise TypeError(f"{what}: group is a ProcessGroup or None, not {type(chosen).__name__}")
    return chosen
