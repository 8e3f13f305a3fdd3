"""Groups: to make them, to end them, to ask who is in them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any

import taeda

from ._engines import nccl_library
from ._errors import DistBackendError
from ._groups import recorder
from ._groups.by_device import backends_of, make_group, named
from ._groups.group import ProcessGroup
from ._groups.world import GroupMember, enter_thread_world, leave_thread_world, the_group, world
from ._mpi import world as mpi_world
from ._mpi.launched import local_rank
from ._settings import DEFAULT_TIMEOUT
from ._stores import PrefixStore, Store
from ._stores.base import seconds_of
from ._types import Backend
from .rendezvous import rendezvous

__all__ = [
    "destroy_process_group",
    "get_backend",
    "get_backend_config",
    "get_default_backend_for_device",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "split_group",
]


# ---- what is there ----


def is_available() -> bool:
    """Is this package installed? It is.

    >>> taeda.distributed.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """Is there a default group?

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.is_initialized()
    True
    >>> dist.destroy_process_group()
    """
    return world().default is not None


def is_mpi_available() -> bool:
    """Is the engine of the backend "mpi" installed?

    >>> taeda.distributed.is_mpi_available()
    True
    """
    return mpi_world.is_available()


def is_gloo_available() -> bool:
    """Is there a backend that answers to "gloo"? It is MPI's, and there when MPI is.

    >>> taeda.distributed.is_gloo_available()
    True
    """
    return is_mpi_available()


def is_nccl_available() -> bool:
    """Are NCCL's library and a GPU there?

    >>> dist = taeda.distributed
    >>> dist.is_nccl_available() == dist.is_backend_available("nccl")
    True
    """
    return nccl_library.is_available()


def is_ucc_available() -> bool:
    """False.

    >>> taeda.distributed.is_ucc_available()
    False
    """
    return False


def is_xccl_available() -> bool:
    """False.

    >>> taeda.distributed.is_xccl_available()
    False
    """
    return False


def is_backend_available(backend: str) -> bool:
    """Can groups be made on `backend`?

    Args:
        backend: its name, in any case.

    >>> from taeda.distributed import is_backend_available
    >>> is_backend_available("Gloo"), is_backend_available("ucc")
    (True, False)
    """
    word = backend.lower()
    if word in (Backend.MPI, Backend.GLOO):
        return is_mpi_available()
    if word == Backend.NCCL:
        return is_nccl_available()
    return word in (Backend.FAKE, Backend.INPROC) or word in Backend._makers


def is_torchelastic_launched() -> bool:
    """Was this process started by `taedarun`?

    >>> taeda.distributed.is_torchelastic_launched()
    False
    """
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_default_backend_for_device(device: str | taeda.device) -> str:
    """The backend for tensors of a device. ValueError for one that has none.

    Args:
        device: a device or its name, such as "cpu".

    >>> taeda.distributed.get_default_backend_for_device("cpu")
    'gloo'
    """
    kind = taeda.device(device).type
    if kind not in ("cpu", "cuda"):
        raise ValueError(f"no backend carries tensors of {kind!r} in this release")
    return str(Backend.GLOO if kind == "cpu" else Backend.NCCL)


# ---- the default group ----


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: taeda.device | int | None = None,
) -> None:
    """Make the default group; returns when all processes have joined.

    They meet in `store`, with `rank` and `world_size`, or by `init_method`: "env://" (the default;
    `taedarun` sets what it needs), "tcp://host:port" or "file:///path". The backend is "mpi", for
    which "gloo" is another name, "nccl" for tensors of GPUs, "inproc" for threads of one process,
    "fake", or a registered one. "cpu:gloo,cuda:nccl" makes a group with both: the device of a
    collective's tensors chooses. None is that where NCCL and a GPU are there, and else "gloo".
    Collectives that take longer than `timeout` raise DistTimeoutError.

    Raises ValueError for a second call, an unknown backend, a rank outside of the world, or both
    ways to meet at once; DistBackendError if the engine is not installed; DistNetworkError if the
    address cannot be reached.

    Args:
        backend: a name, or names by device; None chooses.
        init_method: a URL that says where the processes meet; not together with `store`.
        timeout: how long a collective may take; None is 30 minutes.
        world_size: number of processes; -1 leaves it to `init_method`.
        rank: this process's number, 0 to `world_size` - 1; -1 leaves it to `init_method`.
        store: where the processes meet, in place of `init_method`.
        group_name: a name for the group; "" by default.
        pg_options: only None; ValueError for anything else.
        device_id: the device of this process, or its number; None leaves it open.

    >>> from taeda import distributed as dist
    >>> store = dist.HashStore()  # of several processes: a TCPStore, or env://
    >>> dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    >>> dist.is_initialized()
    True
    >>> dist.destroy_process_group()
    """
    backends = _backends(backend)
    alone = Backend.INPROC not in backends.values()
    if alone and is_initialized():
        raise ValueError("init_process_group was called already: the default group is there")
    if store is not None and init_method is not None:
        raise ValueError("give store or init_method, not both")
    limit = DEFAULT_TIMEOUT if timeout is None else timeout
    seconds_of(limit)
    for name in backends.values():
        _check_engine(name)
    if pg_options is not None:
        raise ValueError("pg_options: the backends of this release have no options")
    _check_device(backends, device_id)
    store, rank, size = _meet(store, init_method, rank, world_size, limit)
    here = world() if alone else enter_thread_world()
    try:
        _begin(here, backends, store, rank, size, limit, group_name)
    except BaseException:
        leave_thread_world()
        raise


def _begin(
    here: Any,
    backends: dict[str, Backend],
    store: Store,
    rank: int,
    size: int,
    limit: timedelta,
    group_name: str,
) -> None:
    store = PrefixStore(group_name or f"default_pg/{here.count}", store)
    here.count += 1
    label = group_name or "0"
    made = make_group(backends, store, rank, range(size), limit, label, "default", "default_pg")
    here.default, here.groups = made, [made]
    _teach_layers()
    if not {Backend.INPROC, Backend.FAKE} & set(backends.values()):
        recorder.install_signal(rank)
        _install_excepthook()


def _teach_layers() -> None:
    from ._sync_batch_norm import teach  # here, so that importing this package does not import nn

    teach()


def _backends(backend: str | None) -> dict[str, Backend]:
    """By device; of None what there is."""
    if backend is not None:
        return backends_of(backend)
    return backends_of("cpu:gloo,cuda:nccl" if is_nccl_available() else Backend.GLOO)


def _check_engine(name: str) -> None:
    if name in (Backend.MPI, Backend.GLOO):
        mpi_world.require(name)
    elif name == Backend.NCCL:
        nccl_library.library()
        if not taeda.cuda.is_available():
            raise DistBackendError(
                "backend 'nccl' carries tensors of GPUs, and this process sees none"
            )
    elif name == Backend.UNDEFINED:
        raise ValueError("backend 'undefined' stands for none")


def _check_device(backends: dict[str, Backend], device_id: taeda.device | int | None) -> None:
    """The device of the group's tensors becomes current with NCCL; ValueError for one that no
    backend carries.
    """
    if device_id is None:
        return
    wanted = (
        taeda.device("cuda", device_id) if isinstance(device_id, int) else taeda.device(device_id)
    )
    if wanted.type not in backends:
        raise ValueError(
            f"device_id {device_id!r}: {named(backends)!r} carries tensors of the "
            f"{' and '.join(backends)} only"
        )
    if wanted.type == "cuda":
        taeda.cuda.set_device(wanted)


def _meet(
    store: Store | None, init_method: str | None, rank: int, world_size: int, limit: timedelta
) -> tuple[Store, int, int]:
    if store is None:
        return next(iter(rendezvous(init_method or "env://", rank, world_size, timeout=limit)))
    if not isinstance(store, Store):
        raise TypeError(f"store is a Store, not {type(store).__name__}")
    if world_size < 1 or rank < 0:
        raise ValueError(
            f"with a store, rank and world_size must be given (they are {rank} and {world_size})"
        )
    if rank >= world_size:
        raise ValueError(
            f"rank {rank} is outside of a world of {world_size}: 0 to {world_size - 1}"
        )
    return store, rank, world_size


def _install_excepthook() -> None:
    """An exception that ends this process is what the others should read when they miss it."""
    before = sys.excepthook
    if getattr(before, "_tells_others", False):
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        _tell_launcher(error)
        _tell_others(error)
        before(kind, error, trace)

    hook._tells_others = True  # type: ignore[attr-defined]  # functions take attributes
    sys.excepthook = hook


def _tell_launcher(error: BaseException) -> None:
    """Before the others hear of it: taedarun names the first failure."""
    from .elastic.multiprocessing.errors import VARIABLES, ErrorHandler

    paths = [os.environ[name] for name in VARIABLES if name in os.environ]
    if paths and isinstance(error, Exception) and not os.path.exists(paths[0]):
        with contextlib.suppress(OSError):  # a full disk; what ends the process is told anyway
            ErrorHandler().record_exception(error)


def _tell_others(error: BaseException) -> None:
    for made in world().groups:
        if made._broken is None and not made._closed:
            for lane in made.lanes():
                lane._engine.give_up(error)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group, or all of them with the default one.
    Nobody waits for the other ranks. ValueError without any.

    Args:
        group: the group that ends; None ends all of them.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.destroy_process_group()
    >>> dist.is_initialized()
    False
    """
    made = the_group(group, "destroy_process_group")
    if made is None:
        return
    here = world()
    ending = list(here.groups) if made is here.default else [made]
    for one in reversed(ending):
        one.shutdown()
        if one in here.groups:
            here.groups.remove(one)
    if made is here.default:
        here.default = None
        leave_thread_world()


# ---- further groups ----


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
        sort_ranks: whether members are numbered by rising rank, as by default, or in the order of
            `ranks`.

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
        _check_engine(name)
    _check_device(backends, device_id)
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
        backend: as in `new_group`.
        pg_options: only None; ValueError for anything else.
        group_desc: a text that describes the groups.

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
        backend: as in `new_group`.
        pg_options: only None; ValueError for anything else.
        group_desc: a text that describes the groups.

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
        split_ranks: lists of numbers in the parent, at least one.
        timeout: how long a collective may take; None takes that of the default group.
        pg_options: only None; ValueError for anything else.
        group_desc: a text that describes the groups.
        backend: as in `new_group`.

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


# ---- who is in them ----


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
