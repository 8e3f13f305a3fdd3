"""A barrier that names who is missing, and leaves the group usable."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from rank_threads import on_threads

import taeda.distributed as dist
from taeda.distributed._groups import monitored


def test_all_come():
    def work(rank):
        for _ in range(2):
            dist.monitored_barrier(timeout=timedelta(seconds=20))
        return "here"

    assert on_threads(3, work) == ["here"] * 3


@pytest.mark.parametrize(("every", "missing"), [(True, [1, 2]), (False, [1])])
def test_who_is_missing_is_named_by_the_first(every, missing, monkeypatch):
    monkeypatch.setattr(monitored, "_GRACE", 0.05)
    gone = threading.Event()

    def work(rank):
        if rank:
            gone.wait(20)
            return None
        with pytest.raises(dist.DistTimeoutError) as caught:
            dist.monitored_barrier(timeout=timedelta(seconds=0.05), wait_all_ranks=every)
        gone.set()
        return caught.value.ranks

    assert on_threads(3, work)[0] == missing


def test_a_first_rank_that_says_nothing_is_the_missing_one(monkeypatch):
    monkeypatch.setattr(monitored, "_GRACE", 0.05)
    waited = threading.Event()

    def work(rank):
        if rank == 0:
            waited.wait(20)
            return None
        with pytest.raises(dist.DistTimeoutError) as caught:
            dist.monitored_barrier(timeout=timedelta(seconds=0.05))
        waited.set()
        return caught.value.ranks

    assert on_threads(2, work)[1] == [0]
