"""Further groups: of some ranks, of ranks that lie together, by a plan."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import taeda

from .._groups.by_device import backends_of, make_group
from .._groups.group import ProcessGroup
from .._groups.world import GroupMember, the_group, world
from .._stores import PrefixStore
from .._stores.base import seconds_of
from .checks import check_device, check_engine
from .members import get_global_rank, get_rank

__all__ = ["new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group"]


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: taeda.device | None = None,
    sort_ranks: bool = True,
) -> Any:
    """A group of some ranks of the default group; all of them by default.

    Every process calls it, in the same order, members or not; with `use_local_synchronization`
    members only. Who is not in it gets `GroupMember.NON_GROUP_MEMBER`. Raises ValueError for a rank
    that is not there or comes twice.

    Args:
        ranks: the members' ranks in the default group, at least one; None is all.
        timeout: how long a collective may take; None takes that of the default group.
        backend: as in `init_process_group`; None takes that of the default group.
        pg_options: only None; ValueError for anything else.
        use_local_synchronization: whether only members call it; False by default.
        group_desc: a text that describes the group; None is "undefined".
        device_id: the device of this process; None leaves it open.
        sort_ranks: whether members are numbered by rising rank, or in the order of `ranks`
            (default: True).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> group = dist.new_group([0])
    >>> dist.get_world_size(group)
    1
    >>> dist.destroy_process_group()
    """
    default = the_group(None, "new_group")
    assert default is not None
    if pg_options is not None:
        raise ValueError("pg_options: the backends of this release have no options")
    members = _members(ranks, default.size(), sort_ranks)
    backends = backends_of(default.name() if backend is None else backend)
    for name in backends.values():
        check_engine(name)
    check_device(backends, device_id)
    limit = default.timeout if timeout is None else timeout
    seconds_of(limit)
    here = world()
    label = _label(members, here, use_local_synchronization)
    if default.rank() not in members:
        return GroupMember.NON_GROUP_MEMBER
    assert default.store is not None
    store = PrefixStore(label, default.store)
    made = make_group(
        backends, store, default.rank(), members, limit, label, label, group_desc or "undefined"
    )
    here.groups.append(made)
    return made


def _label(members: list[int], here: Any, by_members_only: bool) -> str:
    if not by_members_only:
        here.count += 1
        return f"group/{here.count}"
    label = "group/" + "-".join(map(str, members))
    used = sum(made.group_name.startswith(f"{label}/") for made in here.groups)
    return f"{label}/{used}"


def _members(ranks: Sequence[int] | None, size: int, sort: bool) -> list[int]:
    if ranks is None:
        return list(range(size))
    members = [int(rank) for rank in ranks]
    if not members:
        raise ValueError("a group has at least one rank")
    outside = [rank for rank in members if not 0 <= rank < size]
    if outside:
        raise ValueError(f"ranks {outside} are outside of the world of {size}: 0 to {size - 1}")
    if len(set(members)) < len(members):
        raise ValueError(f"a rank comes twice in {members}")
    return sorted(members) if sort else members


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Groups of `group_size` neighbours each (a machine's processes by default): mine, and all of them.

    Args:
        group_size: members of each, a divisor of the size of `group`; None takes LOCAL_WORLD_SIZE,
            or else all.
        group: the group that is divided; None is the default one.
        timeout: how long a collective may take; None takes that of the default group.
        backend: as in `new_group` (default: None).
        pg_options: only None; ValueError for anything else.
        group_desc: a text that describes the groups (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mine, groups = dist.new_subgroups(1)
    >>> dist.get_world_size(mine), len(groups)
    (1, 1)
    >>> dist.destroy_process_group()
    """
    whole = the_group(group, "new_subgroups")
    assert whole is not None
    each = (
        group_size
        if group_size is not None
        else int(os.environ.get("LOCAL_WORLD_SIZE", whole.size()))
    )
    if each < 1 or whole.size() % each:
        raise ValueError(f"group_size {each} does not divide the {whole.size()} ranks")
    lists = [whole._ranks[at : at + each] for at in range(0, whole.size(), each)]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """A group for each list of ranks: the one that this process is in (or None), and all.
    ValueError if a rank is in two.

    Args:
        ranks_per_subgroup_list: at least one list of ranks of the default group; no rank is in two.
        timeout: how long a collective may take; None takes that of the default group.
        backend: as in `new_group` (default: None).
        pg_options: only None; ValueError for anything else.
        group_desc: a text that describes the groups (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mine, made = dist.new_subgroups_by_enumeration([[0]])
    >>> mine is made[0], mine.size()
    (True, 1)
    >>> dist.destroy_process_group()
    """
    if not ranks_per_subgroup_list:
        raise ValueError("ranks_per_subgroup_list has no lists")
    flat = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(set(flat)) < len(flat):
        raise ValueError(
            f"a rank is in two of the groups {list(map(list, ranks_per_subgroup_list))}"
        )
    mine, made = None, []
    for ranks in ranks_per_subgroup_list:
        one = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        made.append(one)
        if get_rank() in ranks:
            mine = one
    return mine, made


def split_group(
    parent_pg: ProcessGroup | None = None,
    split_ranks: Sequence[Sequence[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: str | None = None,
) -> Any:
    """The group of `split_ranks` (lists of the parent's own numbers) that this process is in, or None.

    Args:
        parent_pg: the group that is divided; None is the default one. ValueError for who is not in
            it.
        split_ranks: lists of numbers in the parent, at least one (default: None).
        timeout: how long a collective may take; None takes that of the default group.
        pg_options: only None; ValueError for anything else.
        group_desc: a text that describes the groups (default: None).
        backend: as in `new_group` (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.split_group(split_ranks=[[0]]).size()
    1
    >>> dist.destroy_process_group()
    """
    parent = the_group(parent_pg, "split_group")
    if parent is None or not split_ranks:
        raise ValueError("split_group needs lists of ranks, and is called by members of the parent")
    for numbers in split_ranks:
        if parent.rank() in numbers:
            ranks = [get_global_rank(parent, number) for number in numbers]
            return new_group(ranks, timeout, backend, pg_options, True, group_desc)
    return None
