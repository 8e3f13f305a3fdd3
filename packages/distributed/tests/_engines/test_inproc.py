"""The backend for threads of one process: the same results, without a launcher or an engine."""

from __future__ import annotations

from datetime import timedelta

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel


def test_collectives():
    def work(rank):
        x = taeda.tensor([rank + 1.0])
        dist.all_reduce(x)
        outs = [taeda.zeros(2) for _ in range(3)]
        dist.all_gather(outs, taeda.full((2,), float(rank)))
        got = taeda.zeros(3)
        dist.all_to_all_single(got, taeda.arange(3.0) + 10 * rank)
        mine = taeda.zeros(1)
        dist.reduce_scatter_tensor(mine, taeda.arange(3.0))
        objects = [None] * 3
        dist.all_gather_object(objects, {"r": rank})
        right, left = (rank + 1) % 3, (rank - 1) % 3
        into = taeda.zeros(1)
        works = [dist.isend(taeda.tensor([float(rank)]), right), dist.irecv(into, left)]
        for w in works:
            w.wait()
        dist.barrier()
        return (
            x.item(),
            [o[0].item() for o in outs],
            got.tolist(),
            mine.item(),
            objects[2]["r"],
            into.item(),
            dist.get_backend(),
        )

    for rank, result in enumerate(on_threads(3, work)):
        assert result == (
            6,
            [0, 1, 2],
            [rank, 10 + rank, 20 + rank],
            3 * rank,
            2,
            (rank - 1) % 3,
            "inproc",
        )
    assert not dist.is_initialized()


def test_data_parallel_on_threads():
    def work(rank):
        taeda.manual_seed(0)
        model = DistributedDataParallel(nn.Linear(3, 1, bias=False))
        model(taeda.full((1, 3), float(rank))).sum().backward()
        return model.module.weight.grad[0, 0].item()

    assert on_threads(3, work) == [1.0] * 3


def test_mismatch_and_missing():
    def differ(rank):
        with pytest.raises(dist.DistMismatchError, match="not the same"):
            dist.all_reduce(taeda.ones(rank + 1))
        x = taeda.ones(1)
        dist.all_reduce(x)
        return x.item()

    assert on_threads(2, differ) == [2.0, 2.0]

    def absent(rank):
        if rank == 0:
            with pytest.raises(dist.DistTimeoutError, match="rank 1") as caught:
                dist.barrier(timeout=timedelta(seconds=0.2))
            assert caught.value.ranks == [1]
        return True

    assert on_threads(2, absent) == [True, True]
