"""Dtypes of units, autocast and scalers."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.fsdp import (
    MixedPrecisionPolicy,
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


def test_mixed_precision_computes_low_and_keeps_high():
    models = [seed().float() for _ in range(2)]
    seen = []

    def work(rank):
        model = models[rank]
        policy = MixedPrecisionPolicy(taeda.bfloat16, taeda.float32)
        outer = MixedPrecisionPolicy(taeda.bfloat16, taeda.float32, taeda.float32)
        model.blocks[0].w1.register_forward_hook(
            lambda part, inputs, out: seen.append((part.weight.dtype, inputs[0].dtype, out.dtype))
        )
        grid = dist.init_device_mesh("cpu", (2,))
        for block in model.blocks:
            fully_shard(block, mesh=grid, mp_policy=policy)
        fully_shard(model, mesh=grid, mp_policy=outer)
        out = model(data().float())
        assert out.dtype is taeda.float32
        out.square().mean().backward()
        weight = model.blocks[0].w1.weight
        return weight.dtype, weight.grad.dtype, weight.grad.full_tensor()

    plain = seed().float()
    plain(data().float()).square().mean().backward()
    for dtype, grad_dtype, grad in on_threads(2, work):
        assert dtype is grad_dtype is taeda.float32
        wanted = plain.blocks[0].w1.weight.grad
        assert (grad - wanted).norm() < 0.05 * wanted.norm()
    assert set(seen) == {(taeda.bfloat16,) * 3}


@pytest.mark.parametrize("scaled", [False, True])
def test_autocast_and_scaler(scaled):
    plain = seed().float()

    def train(model, x, mean):
        optimizer = taeda.optim.SGD(model.parameters(), lr=0.1)
        scaler = taeda.amp.GradScaler("cpu", enabled=scaled, init_scale=64.0)
        for _ in range(2):
            optimizer.zero_grad()
            with taeda.autocast("cpu", dtype=taeda.bfloat16):
                loss = model(x).float().square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        return whole(model)

    wanted = train(plain, data().float(), True)
    models = [seed().float() for _ in range(2)]

    def work(rank):
        model = shard(models[rank], dist.init_device_mesh("cpu", (2,)))
        return train(model, data().float().chunk(2)[rank], False)

    for params in on_threads(2, work):
        for name, value in params.items():
            assert taeda.allclose(taeda.tensor(value), taeda.tensor(wanted[name]), atol=2e-3), name
