"""Accumulation gives the gradients of one process."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.fsdp import (
    fully_shard,
)
from taeda.distributed.tensor import DTensor

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


MESHES = {"line": ((4,), None), "replicas": ((2, 2), ("replicate", "shard"))}


def agree(found, wanted):
    losses = [sum(rank[0][step][0] for rank in found) / len(found) for step in range(3)]
    assert losses == pytest.approx([loss for loss, _ in wanted[0]], rel=1e-9)
    for told, params in found:
        assert [norm for _, norm in told] == pytest.approx([n for _, n in wanted[0]], rel=1e-9)
        for name, value in params.items():
            got, want = taeda.tensor(value), taeda.tensor(wanted[1][name])
            assert taeda.allclose(got, want, rtol=1e-6, atol=1e-7), name


def synced(model, last):
    model.set_requires_gradient_sync(last)


def scattered(model, last):
    model.set_requires_all_reduce(last)


def kept(model, last):
    model.set_reshard_after_backward(last)
    model.set_is_last_backward(last)


def lazily(model, last):
    model.set_unshard_in_backward(False)


@pytest.mark.parametrize("around", [None, synced, scattered, kept, lazily])
@pytest.mark.parametrize("mesh", MESHES)
def test_accumulation(around, mesh):
    wanted = steps(seed(), data(), 1)
    models = [seed() for _ in range(4)]

    def work(rank):
        shape, names = MESHES[mesh]
        grid = dist.init_device_mesh("cpu", shape, mesh_dim_names=names)
        return steps(shard(models[rank], grid), data().chunk(4)[rank], 3, around)

    agree(on_threads(4, work), wanted)
