"""Optimizers and clipping over DTensors that lie in several ways, and plain tensors among them."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.5, float("inf"), float("-inf")])
def test_the_norm_counts_each_element_once(p):
    taeda.manual_seed(0)
    values = [taeda.randn(5, 3).double(), taeda.randn(4).double(), taeda.randn(2, 2).double()]
    wanted = nn.utils.get_total_norm(values, p)

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2, 2))
        held = [
            distribute_tensor(values[0], mesh, [Shard(0), Shard(1)]),
            distribute_tensor(values[1], mesh, [Replicate(), Shard(0)]),
            DTensor.from_local(values[2] / 4, mesh, [Partial(), Partial()]),
        ]
        return nn.utils.get_total_norm(held, p).item()

    assert on_threads(4, work) == [pytest.approx(wanted.item(), rel=1e-9)] * 4


@pytest.mark.parametrize("fused", [False, True])
def test_a_gradient_may_lie_otherwise_than_its_parameter(fused):
    plain = nn.Parameter(taeda.ones(4, 3))
    taeda.optim.AdamW([plain], lr=0.1)
    plain.grad = taeda.arange(12.0).view(4, 3)
    one = taeda.optim.AdamW([plain], lr=0.1)
    one.step()

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        param = nn.Parameter(distribute_tensor(taeda.ones(4, 3), mesh, [Shard(0)]))
        param.grad = distribute_tensor(taeda.arange(12.0).view(4, 3), mesh, [Shard(1)])
        taeda.optim.AdamW([param], lr=0.1, fused=fused).step()
        return param.detach().full_tensor()

    for found in on_threads(2, work):
        assert taeda.allclose(found, plain.detach(), atol=1e-6)
