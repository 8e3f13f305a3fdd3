"""Collectives on Python objects, on threads."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda.distributed as dist


def of(rank):
    return {"rank": rank, "text": "x" * 50 * rank}


def test_every_collective_gives_what_was_given():
    def work(rank):
        every, gathered = [None] * 3, [None] * 3 if rank == 1 else None
        dist.all_gather_object(every, of(rank))
        dist.gather_object(of(rank), gathered, dst=1)
        told = [of(2), "second"] if rank == 2 else [None, None]
        dist.broadcast_object_list(told, src=2, device="cpu")
        mine = [None]
        dist.scatter_object_list(mine, [of(r) for r in range(3)] if rank == 0 else None)
        return every, gathered, told, mine

    for rank, (every, gathered, told, mine) in enumerate(on_threads(3, work)):
        assert every == [of(0), of(1), of(2)]
        assert gathered == (every if rank == 1 else None)
        assert told == [of(2), "second"] and mine == [of(rank)]


def test_lists_go_from_one_to_another():
    def work(rank):
        if rank == 0:
            dist.send_object_list([of(1), 5], dst=1)
            return None
        got = [None, None]
        return dist.recv_object_list(got, src=0), got

    assert on_threads(2, work)[1] == (0, [of(1), 5])


@pytest.fixture
def fake():
    dist.init_process_group("fake", store=dist.HashStore(), rank=1, world_size=4)
    yield
    dist.destroy_process_group()


def test_refusals(fake):
    for call, words in (
        (lambda: dist.all_gather_object([None], 3), "needs 4 places, and has 1"),
        (lambda: dist.gather_object(3, [None], dst=1), "needs 4 places on the rank dst"),
        (lambda: dist.gather_object(3, [None] * 4, dst=0), "on the rank dst only"),
        (
            lambda: dist.broadcast_object_list([3], device="meta"),
            "by the cpu in this group, not by meta",
        ),
        (lambda: dist.scatter_object_list([], [1] * 4, src=1), "at least one place"),
        (lambda: dist.scatter_object_list([None], [1], src=1), "needs 4 objects on the rank src"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_outside_of_a_group_nothing_happens(fake):
    other, places = dist.new_group([0, 2]), [None]
    dist.all_gather_object(places, 3, other)
    dist.gather_object(3, None, 0, other)
    dist.broadcast_object_list(places, 0, other)
    dist.scatter_object_list(places, [3], 0, other)
    dist.send_object_list([3], 0, other)
    assert dist.recv_object_list(places, 0, other) == -1 and places == [None]
