"""save and async_save."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import Enum
from typing import Any

from taeda._core_api import warn

from . import _words
from ._agreement import Bytes, on_all, on_coordinator
from ._ways import group_of, in_background, in_foreground, runs, wait_for_background
from .default_planner import DefaultSavePlanner
from .filesystem import FileSystemWriter
from .metadata import Metadata
from .planner import SavePlan, SavePlanner
from .staging import AsyncStager, BlockingAsyncStager
from .stateful import Stateful
from .storage import Place, StorageWriter

__all__ = ["AsyncCheckpointerType", "async_save", "save", "save_state_dict"]


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Place | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> Metadata:
    """Write a checkpoint, each rank its part, into the folder `checkpoint_id`.

    Values are tensors, plain data that `taeda.save` takes, dicts of those, and objects with
    `state_dict` such as modules and optimizers. Of a sharded tensor every rank writes its shard;
    what all ranks hold is written once. Every rank of the group calls it; without a group, or with
    `no_dist`, this process alone. The former checkpoint of the folder stays whole until the new one
    is. CheckpointException, on every rank, says what failed on which.

    Args:
        state_dict: names and values: tensors, DTensors, plain data, dicts of those, and objects
            with `state_dict`.
        checkpoint_id: the folder, or an address that fsspec knows, such as `memory://run`; None
            where the storage was given one.
        storage_writer: what writes; None makes one for `checkpoint_id`.
        planner: who decides what each rank does; None is the default one.
        process_group: the ranks that take part; None is the default group.
        no_dist: True for this process alone, whatever groups there are. False, the default, takes
            the group if there is one.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> metadata = save({"weight": taeda.ones(2, 3), "epoch": 4}, checkpoint_id=folder)
    >>> sorted(metadata.state_dict_metadata)
    ['epoch', 'weight']
    """
    group = group_of(process_group, no_dist)
    wait_for_background(group)
    writer, way = _writer(storage_writer, checkpoint_id), in_foreground(group)
    _check(state_dict)
    planner = planner or DefaultSavePlanner()
    return _save(lambda: _states(state_dict), writer, checkpoint_id, planner, way)


def _writer(writer: StorageWriter | None, place: Place | None) -> StorageWriter:
    if writer is not None:
        return writer
    if place is None:
        raise RuntimeError("save needs checkpoint_id, the name of a folder, or a storage_writer")
    return FileSystemWriter(place)


def _check(state_dict: Any) -> None:
    if not isinstance(state_dict, dict):
        raise TypeError(f"a state dict is a dict, not {type(state_dict).__name__}")


def _states(state_dict: dict[str, Any]) -> dict[str, Any]:
    """The state of what has one."""
    return {
        key: value.state_dict() if isinstance(value, Stateful) else value
        for key, value in state_dict.items()
    }


def _save(
    state: Callable[[], dict[str, Any]],
    writer: StorageWriter,
    place: Place | None,
    planner: SavePlanner,
    way: Bytes,
) -> Metadata:
    first = way.rank == 0
    metadata: list[Metadata] = []

    def local() -> Any:
        writer.reset(None if place is None else os.fspath(place))
        planner.set_up_planner(state(), writer.storage_meta(), first)
        writer.set_up_storage_writer(first)
        return _words.save_plan_to(writer.prepare_local_plan(planner.create_local_plan()))

    def all_plans() -> Any:
        plans, made = planner.create_global_plan([_words.save_plan_from(plan) for plan in told])
        metadata.append(made)
        return [_words.save_plan_to(plan) for plan in writer.prepare_global_plan(plans)]

    def write() -> Any:
        plan: SavePlan = planner.finish_plan(_words.save_plan_from(plans[way.rank]))
        return _words.results_to(writer.write_data(plan, planner).wait())

    def finish() -> Any:
        writer.finish(metadata[0], [_words.results_from(part) for part in results])
        return [_words.entries_to(metadata[0]), metadata[0].planner_data]

    told = on_all(way, "saving: the plan", local)
    plans = on_coordinator(way, "saving: the common plan", all_plans)
    results = on_all(way, "saving: writing", write)
    entries, kept = on_coordinator(way, "saving: the index", finish)
    return metadata[0] if first else Metadata(_words.entries_from(entries), kept)


def save_state_dict(
    state_dict: dict[str, Any],
    storage_writer: StorageWriter,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: SavePlanner | None = None,
) -> Metadata:
    """`save`, as it was called before; the coordinator is rank 0. Warns that `save` is its name now.

    Args:
        state_dict: names and values: tensors, DTensors, plain data, dicts of those, and objects
            with `state_dict`.
        storage_writer: what writes; None makes one for `checkpoint_id`.
        process_group: the ranks that take part; None is the default group.
        no_dist: True for this process alone, whatever groups there are. False, the default, takes
            the group if there is one.
        planner: who decides what each rank does; None is the default one.
        coordinator_rank: 0, who writes the index.

    >>> import tempfile, warnings
    >>> from taeda.distributed.checkpoint import FileSystemWriter
    >>> writer = FileSystemWriter(tempfile.mkdtemp())
    >>> with warnings.catch_warnings(record=True):
    ...     metadata = save_state_dict({"weight": taeda.ones(2)}, writer)
    >>> sorted(metadata.state_dict_metadata)
    ['weight']
    """
    warn("save_state_dict is the old name of save", FutureWarning)
    if coordinator_rank != 0:
        raise ValueError(f"the coordinator is rank 0, not {coordinator_rank}")
    return save(
        state_dict,
        storage_writer=storage_writer,
        planner=planner,
        process_group=process_group,
        no_dist=no_dist,
    )


# ---- in the background ----


class AsyncCheckpointerType(Enum):
    """Where `async_save` writes.

    >>> AsyncCheckpointerType("thread") is AsyncCheckpointerType.THREAD
    True
    """

    THREAD = "thread"
    PROCESS = "process"


def async_save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Place | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group: Any = None,
    async_checkpointer_type: AsyncCheckpointerType | None = None,
    async_stager: AsyncStager | None = None,
    no_dist: bool = False,
) -> Future[Metadata]:
    """`save` on a thread. It returns when the values are copied, so training may go on and change them.

    The future's `result()` is what `save` returns, or its error raised. The next save or load waits
    for it to end. The ranks speak through the group's store only, never by collectives.
    `async_stager` makes the copy; a storage writer with a `stage` of its own is asked otherwise.
    NotImplementedError for a process of its own (`async_checkpointer_type`).

    Args:
        state_dict: names and values: tensors, DTensors, plain data, dicts of those, and objects
            with `state_dict`.
        checkpoint_id: the folder, or an address that fsspec knows, such as `memory://run`; None
            where the storage was given one.
        storage_writer: what writes; None makes one for `checkpoint_id`.
        planner: who decides what each rank does; None is the default one.
        process_group: the ranks that take part; None is the default group.
        no_dist: True for this process alone, whatever groups there are. False, the default, takes
            the group if there is one.
        async_checkpointer_type: None (the default) or THREAD for a thread beside the program;
            NotImplementedError for PROCESS.
        async_stager: makes the copy that is written; None is a BlockingAsyncStager.

    >>> import tempfile
    >>> weight = taeda.ones(2)
    >>> future = async_save({"weight": weight}, checkpoint_id=tempfile.mkdtemp())
    >>> weight.zero_()  # training goes on; ones are written
    tensor([0., 0.])
    >>> sorted(future.result().state_dict_metadata)
    ['weight']
    """
    if async_checkpointer_type is AsyncCheckpointerType.PROCESS:
        raise NotImplementedError(
            "async_save writes on a thread of this process: leave the type out"
        )
    group = group_of(process_group, no_dist)
    wait_for_background(group)
    writer = _writer(storage_writer, checkpoint_id)
    _check(state_dict)
    stager = async_stager or (writer if isinstance(writer, AsyncStager) else BlockingAsyncStager())
    state, way = _copied(state_dict, stager), in_background(group)
    future: Future[Metadata] = Future()
    future.set_running_or_notify_cancel()
    runs(group, future)

    def work() -> None:
        try:
            try:
                made = _save(state, writer, checkpoint_id, planner or DefaultSavePlanner(), way)
            finally:
                way.leave()  # before the future is done, since the caller may end then
        except BaseException as error:  # noqa: BLE001 - the future tells it
            future.set_exception(error)
        else:
            future.set_result(made)

    threading.Thread(target=work, name="taeda checkpoint").start()
    if getattr(stager, "should_synchronize_after_execute", True):
        stager.synchronize_staging()
    return future


def _copied(state_dict: dict[str, Any], stager: AsyncStager) -> Callable[[], dict[str, Any]]:
    """What gives a copy of the states, or raises what went wrong: to be told to all ranks."""
    try:
        state = stager.stage(_states(state_dict))
    except Exception as error:  # noqa: BLE001 - raised where all ranks hear of it
        return _raising(error)
    return lambda: state


def _raising(error: Exception) -> Callable[[], Any]:
    def raises() -> Any:
        raise error

    return raises
