"""Parameters that tensor parallelism has cut."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.fsdp import (
    fully_shard,
)
from taeda.distributed.tensor import DTensor, Shard
from taeda.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

ROWS = 12


class Block(nn.Module):
    """A norm and two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.w1, self.w2 = nn.LayerNorm(6), nn.Linear(6, 10), nn.Linear(10, 6)

    def forward(self, x):
        return x + self.w2(self.w1(self.norm(x)).tanh())


class Net(nn.Module):
    """Three blocks and a layer whose rows do not divide."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.last = nn.Linear(6, 5)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.last(x)

    def scores(self, x):
        return self.forward(x) * 2


def seed():
    taeda.manual_seed(2)
    return Net().double()


def data():
    maker = taeda.Generator().manual_seed(4)
    return taeda.randn(ROWS, 6, generator=maker, dtype=taeda.float64)


def steps(model, x, parts=1, around=None, count=3):
    optimizer = taeda.optim.AdamW(model.parameters(), lr=0.02)
    told = []
    for _ in range(count):
        optimizer.zero_grad()
        total = 0.0
        for number, piece in enumerate(x.chunk(parts)):
            if around is not None:
                around(model, number + 1 == parts)
            loss = model(piece).square().mean() / parts
            loss.backward()
            total += loss.item()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.7)
        optimizer.step()
        told.append((total, float(norm)))
    return told, whole(model)


def whole(model):
    return {
        name: (p.detach().full_tensor() if isinstance(p, DTensor) else p.detach()).double().tolist()
        for name, p in model.named_parameters()
    }


def shard(model, mesh, **options):
    for block in model.blocks:
        fully_shard(block, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


def test_with_tensor_parallelism_on_two_by_two():
    wanted = steps(seed(), data())
    models = [seed() for _ in range(4)]

    def work(rank):
        grid = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        plan = {"blocks.*.w1": ColwiseParallel(), "blocks.*.w2": RowwiseParallel()}
        model = parallelize_module(models[rank], grid["tp"], plan)
        for block in model.blocks:
            fully_shard(block, mesh=grid["dp"])
        fully_shard(model, mesh=grid["dp"])
        weight = model.blocks[0].w1.weight
        assert weight.placements == (Shard(0), Shard(0)) and weight.device_mesh == grid
        told, params = steps(model, data().chunk(2)[rank // 2])
        return told, params

    found = on_threads(4, work)
    losses = [sum(rank[0][step][0] for rank in found) / 4 for step in range(3)]
    assert losses == pytest.approx([loss for loss, _ in wanted[0]], rel=1e-9)
    for _, params in found:
        for name, value in params.items():
            assert taeda.allclose(taeda.tensor(value), taeda.tensor(wanted[1][name]), atol=1e-6), (
                name
            )
