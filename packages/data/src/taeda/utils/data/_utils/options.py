"""What may be asked of a loader: the checks of its options."""

from __future__ import annotations

import os
from typing import Any

from taeda._core_api import warn

__all__ = ["check_order", "check_streaming", "check_workers"]


def check_workers(
    num_workers: int,
    timeout: float,
    prefetch_factor: int | None,
    persistent_workers: bool,
    watchdog: float,
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            f"multiprocessing, got {num_workers}"
        )
    if watchdog < 0:
        raise ValueError(
            f"watchdog option should be non-negative (0 switches it off), got {watchdog}"
        )
    if timeout < 0:
        raise ValueError(f"timeout option should be non-negative, got {timeout}")
    if num_workers == 0:
        if prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing: let "
                "num_workers > 0 to enable it, otherwise set prefetch_factor to None, got "
                f"{prefetch_factor}"
            )
        if persistent_workers:
            raise ValueError("persistent_workers option needs num_workers > 0")
        return
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError(f"prefetch_factor option should be non-negative, got {prefetch_factor}")
    _warn_of_many(num_workers)


def _warn_of_many(num_workers: int) -> None:
    """Workers that wait for files may be more than processors; many more only cost memory."""
    processors = len(os.sched_getaffinity(0))
    if num_workers > max(4 * processors, 8):
        warn(
            f"num_workers={num_workers}, and this process may use {processors} "
            f"processor{'s' * (processors > 1)}: so many workers get in each other's way, and each "
            f"holds a copy of what the dataset changes; try num_workers={processors}",
        )


def check_streaming(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    if shuffle not in (False, None):
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified shuffle option, "
            f"but got shuffle={shuffle}"
        )
    for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, "
                f"but got {name}={value}"
            )


def check_order(
    batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: Any
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                "and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
