"""Whether there are groups, who is in one, and under which number."""

from __future__ import annotations

from .._groups.by_device import backends_of, named
from .._groups.group import ProcessGroup
from .._groups.world import the_group, world
from .._mpi.launched import local_rank

__all__ = [
    "get_backend",
    "get_backend_config",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "is_initialized",
]


def is_initialized() -> bool:
    """Is there a default group?

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.is_initialized()
    True
    >>> dist.destroy_process_group()
    """
    return world().default is not None


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's number in a group, -1 if it is not in it. ValueError without a default group.

    Args:
        group: the group; None is the default one.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_rank(), dist.get_world_size()
    (0, 1)
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "get_rank")
    return -1 if made is None else made.rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes a group has, -1 for one that this process is not in.

    Args:
        group: the group; None is the default one.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_world_size()
    1
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "get_world_size")
    return -1 if made is None else made.size()


def get_backend(group: ProcessGroup | None = None) -> str:
    """The backend of a group, by the name it was asked for; of several, "cpu:gloo,cuda:nccl".
    ValueError if this process is not in it.

    Args:
        group: the group; None is the default one.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_backend()
    'gloo'
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "get_backend")
    if made is None:
        raise ValueError("get_backend: this process is not in the group")
    return made.name()


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """The backends by device, as text.

    Args:
        group: the group; None is the default one.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_backend_config()
    'cpu:gloo'
    >>> dist.destroy_process_group()
    """
    name = get_backend(group)
    return name if ":" in name else named(backends_of(name))


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The group's number of a rank of the default group. ValueError if it is no member.

    Args:
        group: the group; None is the default one.
        global_rank: a rank of the default group.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_group_rank(dist.group.WORLD, 0)
    0
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "get_group_rank")
    if made is None:
        raise ValueError("get_group_rank: this process is not in the group")
    return made.number_of(global_rank, "global_rank")


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank in the default group of a group's number. ValueError if there is none such.

    Args:
        group: the group; None is the default one.
        group_rank: a number within the group, 0 to its size - 1.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_global_rank(dist.group.WORLD, 0)
    0
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "get_global_rank")
    if made is None:
        raise ValueError("get_global_rank: this process is not in the group")
    if not 0 <= group_rank < made.size():
        raise ValueError(f"group_rank {group_rank} is outside of a group of {made.size()}")
    return made._ranks[group_rank]


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks in the default group of all members, in the group's order.

    Args:
        group: the group; None is the default one.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_process_group_ranks(dist.group.WORLD)
    [0]
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "get_process_group_ranks")
    return [] if made is None else list(made._ranks)


def get_pg_count() -> int:
    """How many groups this process is in.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> group = dist.new_group([0])
    >>> dist.get_pg_count()
    2
    >>> dist.destroy_process_group()
    """
    return len(world().groups)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's number on its machine, from LOCAL_RANK or what mpiexec or srun set in its place.

    RuntimeError if neither that nor a fallback is there.

    Args:
        fallback_rank: the answer where no number is set; None raises RuntimeError then.

    >>> import os
    >>> from unittest import mock
    >>> with mock.patch.dict(os.environ, LOCAL_RANK="3"):  # taedarun sets it
    ...     taeda.distributed.get_node_local_rank()
    3
    """
    told = local_rank()
    if told is not None:
        return int(told)
    if fallback_rank is None:
        raise RuntimeError(
            "LOCAL_RANK is not set: start the program with taedarun, or give fallback_rank"
        )
    return int(fallback_rank)
