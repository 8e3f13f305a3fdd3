"""Barriers of the ranks that share one machine's memory: threads here, which map the same board."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from taeda.distributed._meeting.board import Board
from taeda.distributed._meeting.mates import Mates
from taeda.distributed._waiting import Deadline


def mates(size: int, look=lambda: None) -> list[Mates]:
    descriptor = Board.create(size)
    pids = [os.getpid()] * size
    made = [
        Mates(
            rank, pids, Board(descriptor, size, rank), look, lambda deadline: TimeoutError("late")
        )
        for rank in range(size)
    ]
    os.close(descriptor)
    return made


@pytest.mark.parametrize("size", [1, 2, 3])
def test_nobody_leaves_a_barrier_before_all_came(size):
    came = []

    def visit(mate: Mates) -> int:
        came.append(mate.rank)
        mate.meet(Deadline(60), False)
        return len(came)

    ranks = mates(size)
    with ThreadPoolExecutor(size) as pool:
        assert list(pool.map(visit, ranks)) == [size] * size
    assert {mate.size for mate in ranks} == {size}


def test_who_waits_past_the_deadline_raises_what_late_makes():
    first, _ = mates(2)
    with pytest.raises(TimeoutError, match="late"):
        first.meet(Deadline(0.01), False)


def test_who_waits_hears_that_a_rank_is_gone():
    def look() -> None:
        raise ConnectionError("rank 1 is gone")

    first, _ = mates(2, look)
    with pytest.raises(ConnectionError, match="rank 1"):
        first.meet(Deadline(60), False)
