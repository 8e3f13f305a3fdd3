"""local_map: a function over the parts."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from taeda.distributed.tensor.experimental import local_map


def test_parts_go_in_and_wholes_come_out():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        x = distribute_tensor(taeda.arange(12.0).view(4, 3), mesh, [Shard(1)]).requires_grad_()
        product = local_map(lambda a, b: a @ b, [Partial()], ([Shard(1)], [Shard(0)]))
        y = distribute_tensor(taeda.ones(3, 2), mesh, [Shard(0)])
        made = product(x, y)
        assert taeda.equal(made.detach().full_tensor(), (x.detach() @ y).full_tensor())
        made.redistribute(placements=[Replicate()]).sum().backward()
        assert x.grad.full_tensor().tolist() == [[2, 2, 2]] * 4
        with pytest.raises(ValueError, match="redistribute_inputs=True"):
            product(x, distribute_tensor(taeda.ones(3, 2), mesh))
        moving = local_map(lambda a: a * 2, [Shard(0)], ([Shard(0)],), redistribute_inputs=True)
        assert moving(x).placements == (Shard(0),)
        two = local_map(lambda a, n: (a, n), ([Shard(1)], None))
        assert two(x, 3)[1] == 3 and isinstance(two(x, 3)[0], DTensor)
        with pytest.raises(AssertionError, match="no tensor"):
            local_map(lambda a: (a, 3), ([Shard(1)], [Shard(0)]))(x)
        other = dist.init_device_mesh("cpu", (2,), mesh_dim_names=("x",))
        with pytest.raises(AssertionError, match="wanted"):
            product(x, distribute_tensor(taeda.ones(3, 2), other, [Shard(0)]))
        assert local_map(lambda a: a + 1, [Shard(0)])(taeda.ones(1)).tolist() == [2]

    on_threads(2, work)
