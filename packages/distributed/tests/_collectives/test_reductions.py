"""Sums and their kin over ranks that are threads, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist

SIZE = 3
OPS = {
    "SUM": np.add.reduce,
    "PRODUCT": np.multiply.reduce,
    "MIN": np.minimum.reduce,
    "MAX": np.maximum.reduce,
}


def of(rank):
    return np.arange(1, 7, dtype=np.float32).reshape(2, 3) * (rank + 1) - rank


@pytest.mark.parametrize("name", OPS)
def test_every_rank_gets_the_same(name):
    wanted, op = OPS[name]([of(r) for r in range(SIZE)]), getattr(dist.ReduceOp, name)

    def work(rank):
        x = taeda.from_numpy(of(rank))
        dist.all_reduce(x, op)
        parts = [taeda.from_numpy(of(rank))[0].clone(), taeda.from_numpy(of(rank))[1].clone()]
        dist.all_reduce_coalesced(parts, op)
        y = taeda.from_numpy(of(rank))
        dist.reduce(y, dst=1, op=op)
        assert rank != 1 or y.numpy().tolist() == wanted.tolist()
        return x.tolist(), [part.tolist() for part in parts]

    for whole, parts in on_threads(SIZE, work):
        assert whole == wanted.tolist() and parts == wanted.tolist()


def test_each_rank_gets_its_part():
    wanted = sum(of(r) for r in range(SIZE))

    def work(rank):
        columns = [taeda.from_numpy(of(rank))[:, k].contiguous() for k in range(SIZE)]
        mine, flat = taeda.zeros(2), taeda.zeros(2)
        dist.reduce_scatter(mine, columns)
        dist.reduce_scatter_tensor(flat, taeda.cat(columns), dist.ReduceOp.AVG)
        return mine.tolist(), flat.tolist()

    for rank, (mine, flat) in enumerate(on_threads(SIZE, work)):
        assert mine == wanted[:, rank].tolist()
        assert flat == pytest.approx((wanted[:, rank] / SIZE).tolist())


def test_what_does_not_fit_is_refused(fake):
    with pytest.raises(TypeError, match="tensor is a tensor, not list"):
        dist.all_reduce([1.0])
    with pytest.raises(ValueError, match="at least one tensor"):
        dist.all_reduce_coalesced([])
    with pytest.raises(ValueError, match="bits of integers"):
        dist.all_reduce(taeda.ones(2), dist.ReduceOp.BAND)
    with pytest.raises(ValueError, match="4 ranks with 2 in output need 8"):
        dist.reduce_scatter_tensor(taeda.zeros(2), taeda.ones(3))
