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
    """In a worker process what it knows of itself; None in the main process.

    >>> class Numbers(taeda.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         info = taeda.utils.data.get_worker_info()
    ...         first, step = (0, 1) if info is None else (info.id, info.num_workers)
    ...         return iter(range(first, 6, step))
    >>> [int(x) for x in taeda.utils.data.DataLoader(Numbers(), batch_size=None)]
    [0, 1, 2, 3, 4, 5]
    >>> taeda.utils.data.get_worker_info() is None
    True
    """
    return worker_info
