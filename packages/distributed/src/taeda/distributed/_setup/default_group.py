"""The default group: it begins, and it ends."""

from __future__ import annotations

import contextlib
import os
import sys
from datetime import timedelta
from types import TracebackType
from typing import Any

import taeda

from .._groups import recorder
from .._groups.by_device import make_group
from .._groups.group import ProcessGroup
from .._groups.world import enter_thread_world, leave_thread_world, the_group, world
from .._settings import DEFAULT_TIMEOUT
from .._stores import PrefixStore, Store
from .._stores.base import seconds_of
from .._types import Backend
from ..rendezvous import rendezvous
from .checks import check_device, check_engine, chosen_backends
from .members import is_initialized

__all__ = ["destroy_process_group", "init_process_group"]


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
        init_method: a URL that says where the processes meet; not together with `store`
            (default: None).
        timeout: how long a collective may take; None is 30 minutes.
        world_size: number of processes; -1 leaves it to `init_method`.
        rank: this process's number, 0 to `world_size` - 1; -1 leaves it to `init_method`.
        store: where the processes meet, in place of `init_method` (default: None).
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
    backends = chosen_backends(backend)
    alone = Backend.INPROC not in backends.values()
    if alone and is_initialized():
        raise ValueError("init_process_group was called already: the default group is there")
    if store is not None and init_method is not None:
        raise ValueError("give store or init_method, not both")
    limit = DEFAULT_TIMEOUT if timeout is None else timeout
    seconds_of(limit)
    for name in backends.values():
        check_engine(name)
    if pg_options is not None:
        raise ValueError("pg_options: the backends of this release have no options")
    check_device(backends, device_id)
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
    from .._sync_batch_norm import teach  # here, so that importing this package does not import nn

    teach()


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
    from ..elastic.multiprocessing.errors import VARIABLES, ErrorHandler

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
