"""Waiting for every rank, on threads."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from rank_threads import on_threads

import taeda.distributed as dist

SIZE = 3


@pytest.mark.parametrize("wait", [dist.barrier, dist.monitored_barrier])
def test_nobody_goes_on_before_all_have_come(wait):
    came, lock = [], threading.Lock()

    def work(rank):
        with lock:
            came.append(rank)
        wait()
        return len(came)

    assert on_threads(SIZE, work) == [SIZE] * SIZE


def test_one_that_is_begun_is_waited_for():
    def work(rank):
        waiting = dist.barrier(async_op=True)
        return waiting.wait(timedelta(seconds=20))

    assert on_threads(SIZE, work) == [True] * SIZE


def test_who_does_not_come_is_named():
    def work(rank):
        if rank == 2:
            return "stayed away"
        with pytest.raises(dist.DistTimeoutError, match="rank 2 did not come within"):
            dist.monitored_barrier(timeout=timedelta(seconds=0.5), wait_all_ranks=True)
        return "named"

    assert on_threads(SIZE, work) == ["named", "named", "stayed away"]
