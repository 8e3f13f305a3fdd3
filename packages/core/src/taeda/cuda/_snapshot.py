"""What the allocator holds, block by block, in the form that viewers of snapshots read."""

from __future__ import annotations

import pickle
from itertools import groupby
from typing import Any

from taeda._io.atomic import atomic_write
from taeda._native import core as _core

from . import _history
from ._devices import is_initialized, ordinal_of

__all__ = ["dump_snapshot", "memory_snapshot", "record_memory_history", "snapshot"]

_STATES = ("inactive", "active_awaiting_free", "active_allocated")


def _block(seen: tuple[Any, ...]) -> dict[str, Any]:
    _, address, size, asked, stack, _, _, _, _, state, _ = seen
    found = _STATES[state]
    return {
        "address": address,
        "size": size,
        "requested_size": asked if state else 0,
        "state": found,
        "frames": _history.frames(stack) if state else [],
    }


def _segment(seen: list[tuple[Any, ...]]) -> dict[str, Any]:
    """A segment of its blocks, in order of their addresses."""
    address, _, _, _, _, size, pool, stream, ordinal, _, small = seen[0]
    blocks = [_block(one) for one in seen]
    used = [b for b in blocks if b["state"] == "active_allocated"]
    return {
        "device": ordinal,
        "address": address,
        "total_size": size,
        "allocated_size": sum(b["size"] for b in used),
        "active_size": sum(b["size"] for b in blocks if b["state"] != "inactive"),
        "requested_size": sum(b["requested_size"] for b in blocks),
        "stream": stream,
        "segment_type": "small" if small else "large",
        "segment_pool_id": (0, pool),
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
    }


def memory_snapshot(mempool_id: tuple[int, int] | None = None) -> list[dict[str, Any]]:
    """The segments of all devices with their blocks: addresses, sizes, streams and states. With
    `mempool_id` only those of one private pool (`MemPool.id`).

    Empty before a device was used. What comes straight from the driver
    (`backend:cudaMallocAsync`), or from somebody's functions, has no segments.

    Args:
        mempool_id: `MemPool.id` of one pool; None is all memory.

    >>> taeda.cuda.is_initialized() or taeda.cuda.memory_snapshot() == []
    True
    """
    if not is_initialized():
        return []
    by_segment = groupby(_core.cuda_pool_seen(), key=lambda seen: seen[0])
    found = [_segment(list(blocks)) for _, blocks in by_segment]
    return [s for s in found if mempool_id is None or s["segment_pool_id"] == tuple(mempool_id)]


def _step(step: tuple[Any, ...]) -> dict[str, Any]:
    action, address, size, time_us, stack, stream, _ = step
    entry: dict[str, Any] = {
        "action": action,
        "size": size,
        "stream": stream,
        "time_us": time_us,
        "frames": _history.frames(stack),
    }
    # of an allocation that failed the field says how much the driver still had
    entry["device_free" if action == "oom" else "addr"] = address
    return entry


def _settings() -> dict[str, Any]:
    return {"backend": _core.cuda_pool_backend()}


def snapshot(device: Any = None) -> dict[str, Any]:
    """Segments and, since `_record_memory_history`, the allocator's steps: a dict with "segments",
    as `memory_snapshot` gives them, "device_traces", a list of steps for each device, and
    "allocator_settings". With `device` the steps of other devices are left out.

    Args:
        device: whose steps are told, a device or its number; None is all of them.
    """
    count = _core.cuda_count() if is_initialized() else 0
    traces: list[list[dict[str, Any]]] = [[] for _ in range(count)]
    only = None if device is None else ordinal_of(device)
    for step in _core.cuda_pool_steps() if count else ():
        if only in (None, step[-1]):
            traces[step[-1]].append(_step(step))
    return {
        "segments": memory_snapshot(),
        "device_traces": traces,
        "allocator_settings": _settings(),
    }


def dump_snapshot(filename: Any = "dump_snapshot.pickle") -> None:
    """Write `_snapshot()` as a pickle, which viewers of memory snapshots open.

    Args:
        filename: where it is written ("dump_snapshot.pickle").
    """
    with atomic_write(filename) as file:
        pickle.dump(snapshot(), file)


def record_memory_history(
    enabled: str | None = "all",
    context: str | None = "all",
    stacks: str = "python",
    max_entries: int = 2**63 - 1,
    device: Any = None,
    clear_history: bool = False,
) -> None:
    """Keep, from now on, where memory of devices is allocated. Costs some microseconds an allocation.

    Args:
        enabled: "all" keeps the steps of the allocator; "state" only where blocks in use were made;
            None ends it.
        context: which stacks are kept: "all", "alloc" (not of frees), "state" (only of blocks in use)
            or None.
        stacks: "python"; stacks of C are not kept, and "all" raises ValueError.
        max_entries: how many of the last steps are kept at most (default: 9223372036854775807).
        device: None; all devices are recorded together, and ValueError is raised for another value.
        clear_history: forget the steps so far (default: False). They are forgotten in any case when
            recording starts.
    """
    if stacks != "python":
        raise ValueError(f"stacks is 'python': stacks of C are not kept; got {stacks!r}")
    if device is not None:
        raise ValueError(f"all devices are recorded together: device is None, got {device!r}")
    _history.record(enabled, context, max_entries)
