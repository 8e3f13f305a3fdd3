"""Ranks tell each other data or errors, by collectives and by a store."""

from __future__ import annotations

import time

import pytest
from rank_threads import on_threads

import taeda.distributed as dist
from taeda.distributed.checkpoint import CheckpointException, _agreement
from taeda.distributed.checkpoint._agreement import (
    Alone,
    ByCollectives,
    ByStore,
    on_all,
    on_coordinator,
)

WAYS = {"collectives": ByCollectives, "store": lambda group: ByStore(group, "here")}


class OwnError(Exception):
    """A class that other ranks need not know."""


@pytest.mark.parametrize("name", WAYS)
def test_steps_in_a_row(name):
    def work(rank):
        way = WAYS[name](dist.group.WORLD)
        values = [on_all(way, "step", lambda n=n: ["é" * rank, n]) for n in range(3)]
        return values, on_coordinator(way, "last", lambda: rank + 7)

    told = [[["é" * rank, number] for rank in range(3)] for number in range(3)]
    assert on_threads(3, work) == [(told, 7)] * 3


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("error", [ValueError("what"), OwnError("what"), KeyError("what")])
def test_an_error_is_told_with_its_place(name, error):
    def fails():
        raise error

    def work(rank):
        way = WAYS[name](dist.group.WORLD)
        with pytest.raises(CheckpointException, match="step failed on rank 1") as caught:
            on_all(way, "step", fails if rank == 1 else lambda: 1)
        assert on_all(way, "next", lambda: rank) == [0, 1]  # the ways go on
        found, stack = caught.value.failures[1]
        assert "what" in str(found) and "fails" in stack.format()[-1]
        return type(found)

    kind = type(error)
    known = kind if kind is not OwnError else RuntimeError
    assert on_threads(2, work) == [known, kind]


def test_rank_0_stays_until_the_others_have_read():
    left = []

    def work(rank):
        way = ByStore(dist.group.WORLD, "here")
        before = way.store.num_keys()
        on_all(way, "step", lambda: rank)
        if rank:
            time.sleep(0.05 * rank)
            left.append(rank)
        way.leave()
        return list(left), way.store.num_keys() - before

    (seen, more), *_ = on_threads(3, work)
    assert seen == [1, 2] and more <= 0  # nothing stays in the store


def test_rank_0_waits_for_the_dead_for_seconds_only(monkeypatch):
    monkeypatch.setattr(_agreement, "_GRACE", 0.05)

    def work(rank):
        way = ByStore(dist.group.WORLD, "here")
        on_all(way, "step", lambda: rank)
        if rank == 0:
            way.leave()

    on_threads(2, work)


def test_alone():
    assert on_all(Alone(), "step", lambda: 3) == [3]
    with pytest.raises(CheckpointException, match="rank 0: ZeroDivisionError"):
        on_all(Alone(), "step", lambda: 1 // 0)
