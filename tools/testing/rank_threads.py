"""Programs for many ranks on threads of this process: the backend `inproc`, without a launcher."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import taeda.distributed as dist

__all__ = ["on_threads"]


def on_threads(size: int, work: Callable[[int], Any], seconds: float = 60) -> list[Any]:
    """Run `work(rank)` in a world of `size` threads; return the results, or raise the first error."""
    store, results, errors = dist.HashStore(), [None] * size, []

    def run(rank: int) -> None:
        dist.init_process_group(
            "inproc", store=store, rank=rank, world_size=size, timeout=timedelta(seconds=20)
        )
        try:
            results[rank] = work(rank)
        except Exception as error:  # noqa: BLE001 - raised below
            errors.append(error)
        finally:
            dist.destroy_process_group()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive()
    if errors:
        raise errors[0]
    return results
