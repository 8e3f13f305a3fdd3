"""Collectives that move nothing: they wait for every rank."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from .._calls import Call
from .._errors import DistTimeoutError
from .._groups.group import also_method
from .._groups.work import Work
from .._groups.world import the_group
from .._stores.base import seconds_of

__all__ = ["barrier", "monitored_barrier"]


@also_method
def barrier(
    group: Any = None,
    async_op: bool = False,
    device_ids: list[int] | None = None,
    timeout: timedelta | None = None,
) -> Work | None:
    """Return when every rank has come here.

    Args:
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        device_ids: a list of int, or None; nothing depends on it. TypeError for another type.
        timeout: how long to wait; None takes the group's.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.barrier()  # goes on when all ranks are here
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "barrier")
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError(f"device_ids is a list of int, not {type(device_ids).__name__}")
    if made is None:
        return None
    if timeout is not None:
        seconds_of(timeout)
    call = Call("barrier", "barrier()")
    return made.run(
        call, lambda engine, limit: engine.barrier(limit), async_op=async_op, timeout=timeout
    )


def monitored_barrier(
    group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """As `barrier`, but the error names the rank that did not come, or with `wait_all_ranks` all of them.

    It fails on every rank that came. The group stays usable if the missing ones turn up.

    Args:
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        timeout: how long to wait; None takes the group's.
        wait_all_ranks: whether to wait for all before the error is raised; False by default.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.monitored_barrier()
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "monitored_barrier")
    if made is None:
        return
    limit = seconds_of(made.timeout if timeout is None else timeout)
    from .._groups.monitored import meet_by_store

    missing = meet_by_store(made, limit, wait_all_ranks)
    if missing:
        names = ", ".join(map(str, missing))
        raise DistTimeoutError(
            f"monitored_barrier: rank{'s' if len(missing) > 1 else ''} {names} did not come within "
            f"{limit:g} s",
            missing,
        )
