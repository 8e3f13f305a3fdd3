"""register_sharding: rules of programs, also for operators of their own."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.tensor import Replicate, Shard, _settings, distribute_tensor
from taeda.distributed.tensor.experimental import implicit_replication, register_sharding


def test_a_rule_stands_before_our_own():
    op = taeda.ops.aten.histc.default

    @register_sharding(op)
    def rows(x, bins, low, high):
        assert x.ndim == 2 and bins == 3
        return [([Replicate()], [Replicate(), None, None, None])]

    asked = []

    @register_sharding([taeda.ops.aten.cumsum.default])
    def along(x, dim, dtype=None):
        asked.append((tuple(x.shape), dim))
        return [([Shard(1 - dim)], [Shard(1 - dim), None, None])]

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        x = distribute_tensor(taeda.ones(4, 2), mesh, [Shard(0)])
        assert taeda.histc(x, 3, 0.0, 2.0).placements == (Replicate(),)
        made = x.cumsum(1)
        assert made.placements == (Shard(0),) and made.full_tensor()[:, 1].tolist() == [2] * 4
        with pytest.raises(RuntimeError, match="plain Tensor"):
            x + taeda.ones(2)
        with implicit_replication():
            assert (x + taeda.ones(2)).placements == (Shard(0),)

    try:
        on_threads(2, work)
    finally:
        for name in (str(op), str(taeda.ops.aten.cumsum.default)):
            _settings.REGISTERED.pop(name)
    assert asked[0] == ((4, 2), 1)
    with pytest.raises(TypeError, match="operators"):
        register_sharding(taeda.add)
