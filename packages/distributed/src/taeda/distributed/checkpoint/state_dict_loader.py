"""load."""

from __future__ import annotations

import os
from typing import Any

from taeda._core_api import warn

from . import _words
from ._agreement import on_all, on_coordinator
from ._ways import group_of, in_foreground, wait_for_background
from .default_planner import DefaultLoadPlanner
from .filesystem import FileSystemReader
from .planner import LoadPlanner
from .stateful import Stateful
from .storage import Place, StorageReader

__all__ = ["load", "load_state_dict"]


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Place | None = None,
    storage_reader: StorageReader | None = None,
    planner: LoadPlanner | None = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Fill `state_dict` from the checkpoint in the folder `checkpoint_id`.

    Tensors are filled in place, other values replaced; an object with `load_state_dict` gets what
    its `state_dict()` gave, filled. Any number of ranks may read what any other number wrote: each
    reads the parts that its shards need. Nothing is unpickled. CheckpointException, on every rank,
    names what is missing, of another size, dtype or kind, before anything is filled, and what is
    damaged; after that some tensors may be filled already.

    Args:
        checkpoint_id: the folder, or an address that fsspec knows, such as `memory://run`; None
            where the storage was given one.
        storage_reader: what reads; None makes one for `checkpoint_id`.
        planner: who decides what each rank does; None is the default one.
        process_group: the ranks that take part; None is the default group.
        no_dist: True for this process alone, whatever groups there are. False, the default, takes
            the group if there is one.
        state_dict: what is wanted, by names: tensors and DTensors, which are filled in place, and
            other values, which are replaced.

    >>> import tempfile, taeda
    >>> from taeda.distributed.checkpoint import save
    >>> folder = tempfile.mkdtemp()
    >>> _ = save({"weight": taeda.ones(2), "epoch": 4}, checkpoint_id=folder)
    >>> state = {"weight": taeda.zeros(2), "epoch": 0}
    >>> load(state, checkpoint_id=folder)
    >>> state
    {'weight': tensor([1., 1.]), 'epoch': 4}
    """
    if not isinstance(state_dict, dict):
        raise TypeError(f"a state dict is a dict, not {type(state_dict).__name__}")
    if storage_reader is None and checkpoint_id is None:
        raise RuntimeError("load needs checkpoint_id, the name of a folder, or a storage_reader")
    reader = storage_reader or FileSystemReader(checkpoint_id or "")
    group = group_of(process_group, no_dist)
    _fill(state_dict, reader, checkpoint_id, planner or DefaultLoadPlanner(), group)


def load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: StorageReader,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: LoadPlanner | None = None,
) -> None:
    """`load`, as it was called before; the coordinator is rank 0. Warns that `load` is its name now.

    Args:
        storage_reader: what reads; None makes one for `checkpoint_id`.
        process_group: the ranks that take part; None is the default group.
        no_dist: True for this process alone, whatever groups there are. False, the default, takes
            the group if there is one.
        planner: who decides what each rank does; None is the default one.
        state_dict: what is wanted, by names; filled in place.
        coordinator_rank: 0, who makes the common plan.

    >>> import tempfile, warnings
    >>> from taeda.distributed import checkpoint
    >>> folder, wanted = tempfile.mkdtemp(), {"weight": taeda.zeros(2)}
    >>> _ = checkpoint.save({"weight": taeda.ones(2)}, checkpoint_id=folder)
    >>> with warnings.catch_warnings(record=True):
    ...     load_state_dict(wanted, checkpoint.FileSystemReader(folder))
    >>> wanted
    {'weight': tensor([1., 1.])}
    """
    warn("load_state_dict is the old name of load", FutureWarning)
    if coordinator_rank != 0:
        raise ValueError(f"the coordinator is rank 0, not {coordinator_rank}")
    load(
        state_dict,
        storage_reader=storage_reader,
        planner=planner,
        process_group=process_group,
        no_dist=no_dist,
    )


def _load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: StorageReader,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: LoadPlanner | None = None,
) -> None:
    """`load_state_dict` without the warning, as libraries call it; the planner may add entries.

    Every entry of the checkpoint that the planner asks for is put into `state_dict`, or replaced there.
    ValueError for a coordinator other than rank 0.
    """
    if coordinator_rank != 0:
        raise ValueError(f"the coordinator is rank 0, not {coordinator_rank}")
    group = group_of(process_group, no_dist)
    _fill(state_dict, storage_reader, None, planner or DefaultLoadPlanner(), group)


def _fill(
    state_dict: dict[str, Any],
    reader: StorageReader,
    place: Place | None,
    planner: LoadPlanner,
    group: Any,
) -> None:
    """Load into `state_dict`, and into the objects in it that take a state."""
    wait_for_background(group)
    state: dict[str, Any] = {}
    _load(state_dict, state, reader, place, planner, in_foreground(group))
    for key, value in state.items():
        taker = state_dict.get(key)
        if isinstance(taker, Stateful):
            taker.load_state_dict(value)
        else:
            state_dict[key] = value


def _load(
    given: dict[str, Any],
    state: dict[str, Any],
    reader: StorageReader,
    place: Place | None,
    planner: LoadPlanner,
    way: Any,
) -> None:
    """Fill `state`, which becomes what is given with the states of what has one."""
    first = way.rank == 0

    def local() -> Any:
        reader.reset(None if place is None else os.fspath(place))
        metadata = reader.read_metadata()
        for key, value in given.items():
            state[key] = value.state_dict() if isinstance(value, Stateful) else value
        planner.set_up_planner(state, metadata, first)
        reader.set_up_storage_reader(metadata, first)
        plan = reader.prepare_local_plan(planner.create_local_plan())
        kept = metadata.storage_meta
        return [_words.load_plan_to(plan), None if kept is None else kept.save_id]

    def all_plans() -> Any:
        if len({save for _, save in told}) > 1:
            raise RuntimeError(
                f"ranks see different checkpoints (saves {[save for _, save in told]}): a save ended "
                "meanwhile, or they see different folders"
            )
        plans = planner.create_global_plan([_words.load_plan_from(plan) for plan, _ in told])
        return [_words.load_plan_to(plan) for plan in reader.prepare_global_plan(plans)]

    def read() -> None:
        plan = planner.finish_plan(_words.load_plan_from(plans[way.rank]))
        reader.read_data(plan, planner).wait()

    told = on_all(way, "loading: the plan", local)
    plans = on_coordinator(way, "loading: the common plan", all_plans)
    on_all(way, "loading: reading", read)
