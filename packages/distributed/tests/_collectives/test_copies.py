"""What goes from one rank to all, from all to one, and from all to all, on threads."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist

SIZE = 3


def of(rank):
    return taeda.arange(4.0).reshape(2, 2) + 10 * rank


EVERY = [of(r).tolist() for r in range(SIZE)]


def test_one_gives_to_all():
    def work(rank):
        x, part = of(rank), taeda.zeros(2, 2)
        dist.broadcast(x, src=2)
        dist.scatter(part, [of(r + 5) for r in range(SIZE)] if rank == 1 else None, src=1)
        return x.tolist(), part.tolist()

    for rank, (x, part) in enumerate(on_threads(SIZE, work)):
        assert x == EVERY[2] and part == of(rank + 5).tolist()


def test_all_give_to_one_and_to_all():
    def work(rank):
        outs = [taeda.zeros(2, 2) for _ in range(SIZE)]
        dist.all_gather(outs, of(rank))
        whole = taeda.zeros(SIZE, 2, 2)
        dist.all_gather_into_tensor(whole, of(rank))
        lists = [[taeda.zeros(2, 2)] for _ in range(SIZE)]
        dist.all_gather_coalesced(lists, [of(rank)])
        found = [taeda.zeros(2, 2) for _ in range(SIZE)] if rank == 0 else None
        dist.gather(of(rank), found, dst=0)
        assert (found is None) == (rank != 0)
        assert found is None or [x.tolist() for x in found] == EVERY
        return [x.tolist() for x in outs], whole.tolist(), [x.tolist() for (x,) in lists]

    for outs, whole, lists in on_threads(SIZE, work):
        assert outs == whole == lists == EVERY


def test_views_with_steps_are_written_where_they_lie():
    def work(rank):
        x = taeda.zeros(4, 3)
        dist.broadcast(x.t()[:, ::2].add_(rank + 1) if rank == 0 else x.t()[:, ::2], src=0)
        return x.tolist()

    for x in on_threads(SIZE, work):
        assert x == [[1.0] * 3, [0.0] * 3, [1.0] * 3, [0.0] * 3]


def test_what_does_not_fit_is_refused(fake):
    with pytest.raises(ValueError, match="src"):
        dist.broadcast(taeda.ones(1))
    with pytest.raises(ValueError, match="src 9 is not one of"):
        dist.broadcast(taeda.ones(1), src=9)
    with pytest.raises(ValueError, match="tensor_list needs one tensor for each of the 4 ranks"):
        dist.all_gather([taeda.zeros(1)], taeda.ones(1))
    with pytest.raises(ValueError, match="scatter_list needs one tensor"):
        dist.scatter(taeda.ones(1), None, src=dist.get_rank())
