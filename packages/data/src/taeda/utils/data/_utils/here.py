"""What this process is, if it is a worker. Light: whoever loads data imports it."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["WorkerInfo", "get_worker_info"]


class WorkerInfo(NamedTuple):
    """Number, count, seed and data set of a worker."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


worker_info: WorkerInfo | None = None
arena: Any = None  # an Arena: the shared memory of a worker, for what joins samples


def get_worker_info() -> WorkerInfo | None:
    """In a worker process what it knows of itself; None in the main process."""
    return worker_info
