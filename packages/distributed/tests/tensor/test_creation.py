"""DTensors from a shape."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed import tensor
from taeda.distributed.tensor import Partial, Shard


def test_values_shapes_and_refusals():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        cut = {"device_mesh": mesh, "placements": [Shard(0)]}
        assert tensor.zeros(3, 2, **cut).tolist() == [[0, 0]] * 3
        assert tensor.ones((3,), dtype=taeda.int64, **cut).tolist() == [1, 1, 1]
        made = tensor.full([2, 2], 7, requires_grad=False, **cut)
        assert made.tolist() == [[7, 7], [7, 7]] and made.dtype is taeda.int64
        assert tensor.empty(4, requires_grad=True, **cut).requires_grad
        with mesh:
            assert tensor.zeros(2).placements[0].is_replicate()
        with pytest.raises(RuntimeError, match="needs a device_mesh"):
            tensor.zeros(2)
        with pytest.raises(ValueError, match="terms"):
            tensor.ones(2, device_mesh=mesh, placements=[Partial()])
        with pytest.raises(RuntimeError, match="not negative"):
            tensor.rand(-1, **cut)
        with pytest.raises(TypeError, match="sequence of integers"):
            tensor.randn(1.5, **cut)

    on_threads(2, work)
