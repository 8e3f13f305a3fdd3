"""Messages between two ranks: on threads, and what is refused."""

from __future__ import annotations

import pytest
from rank_threads import on_threads
from ranks import all_well, run_ranks

import taeda
import taeda.distributed as dist


def test_messages_go_by_peer_and_tag():
    def work(rank):
        got = taeda.zeros(2, 2)
        if rank == 0:
            dist.send(taeda.arange(4.0).reshape(2, 2), 1, tag=3)
            dist.send(taeda.full((2, 2), 7.0), group_dst=1)
            return None
        first, second = taeda.zeros(2, 2), got.t()
        assert dist.recv(second, 0) == 0
        assert dist.recv(first, tag=3) == 0
        return first.tolist(), second.tolist()

    assert on_threads(2, work)[1] == ([[0, 1], [2, 3]], [[7, 7], [7, 7]])


def test_a_batch_begins_all_its_messages():
    def work(rank):
        got = taeda.zeros(1)
        other = 1 - rank
        ops = [
            dist.P2POp(dist.isend, taeda.tensor([rank + 5.0]), other),
            dist.P2POp(dist.irecv, got, other),
        ]
        for each in dist.batch_isend_irecv(ops):
            each.wait()
        return got.item(), repr(ops[1])

    (first, text), (second, _) = on_threads(2, work)
    assert (first, second) == (6, 5) and text == "P2POp(irecv, float32 (1,), peer=1)"


def test_to_oneself():
    def work(rank):
        got = taeda.zeros(1)
        sent = dist.isend(taeda.tensor([3.0]), 0)
        received = dist.irecv(got, 0)
        sent.wait()
        received.wait()
        return got.item(), received.source_rank()

    assert on_threads(1, work) == [(3.0, 0)]


@pytest.fixture
def fake():
    dist.init_process_group("fake", store=dist.HashStore(), rank=1, world_size=4)
    yield
    dist.destroy_process_group()


def test_refusals(fake):
    x = taeda.ones(1)
    for call, error, words in (
        (lambda: dist.send(x, 1), ValueError, "cannot block for itself; use isend"),
        (lambda: dist.recv(x, 1), ValueError, "use irecv"),
        (lambda: dist.send(x, 0, tag=-1), ValueError, "tag -1 is outside"),
        (lambda: dist.send(x), ValueError, "give dst"),
        (lambda: dist.send(3, 0), TypeError, "tensor is a tensor, not int"),
        (lambda: dist.recv(x.expand(3), 0), ValueError, "expanded"),
        (lambda: dist.P2POp(dist.send, x, 0), ValueError, "isend or irecv"),
        (lambda: dist.batch_isend_irecv([]), ValueError, "empty"),
        (lambda: dist.batch_isend_irecv([3]), ValueError, "a list of P2POp"),
    ):
        with pytest.raises(error, match=words):
            call()
    pair = dist.new_group([0, 1])
    with pytest.raises(ValueError, match="of one group"):
        dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 0), dist.P2POp(dist.isend, x, 0, pair)])


def test_outside_of_a_group_nothing_is_sent(fake):
    other = dist.new_group([0, 2])
    x = taeda.ones(1)
    assert dist.recv(x, 0, other) == -1 and dist.isend(x, 0, other) is None
    dist.send(x, 0, other)
    assert dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 0, other)]) == []
    assert "number 2 of the group" in repr(dist.P2POp(dist.isend, x, group_peer=2))


def test_sends_are_waited_for_before_what_the_other_side_sends(mpi):
    """Values too many to be on their way by themselves: the wait for one message moves the others too."""
    code = """
    dist.init_process_group("gloo", timeout=seconds(20))
    for count in (5, 3_000_000):
        mine, got = taeda.full((count,), float(rank)), taeda.empty(count)
        ops = [dist.P2POp(dist.isend, mine, 1 - rank), dist.P2POp(dist.irecv, got, 1 - rank)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        assert (got == 1 - rank).all()
    """
    all_well(run_ranks(code, 2))
