"""Every option of fully_shard against one process: losses, norms and parameters after some steps."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.fsdp import (
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    fully_shard,
)
from taeda.distributed.tensor import DTensor, Replicate, Shard
from taeda.distributed.tensor.parallel import ColwiseParallel, parallelize_module

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


def prefetched(model, mesh):
    shard(model, mesh)
    for a, b in zip(model.blocks, list(model.blocks)[1:], strict=False):
        a.set_modules_to_forward_prefetch([b])
        b.set_modules_to_backward_prefetch([a])
    return model


def listed(model, mesh):
    fully_shard(list(model.blocks[:2]), mesh=mesh)
    return fully_shard(model, mesh=mesh)


def columns(param):
    return Shard(1) if param.ndim == 2 and param.shape[1] % 4 == 0 else None


WAYS = {
    "plain": lambda model, mesh: shard(model, mesh),
    "reshard over 2": lambda model, mesh: shard(model, mesh, reshard_after_forward=2),
    "reshard over 1": lambda model, mesh: shard(model, mesh, reshard_after_forward=1),
    "keep": lambda model, mesh: shard(model, mesh, reshard_after_forward=False),
    "prefetch": prefetched,
    "offload": lambda model, mesh: shard(model, mesh, offload_policy=CPUOffloadPolicy()),
    "columns": lambda model, mesh: shard(model, mesh, shard_placement_fn=columns),
    "reduce wide": lambda model, mesh: shard(
        model, mesh, mp_policy=MixedPrecisionPolicy(reduce_dtype=taeda.float64)
    ),
    "one list": listed,
}
MESHES = {"line": ((4,), None), "replicas": ((2, 2), ("replicate", "shard"))}


def agree(found, wanted):
    losses = [sum(rank[0][step][0] for rank in found) / len(found) for step in range(3)]
    assert losses == pytest.approx([loss for loss, _ in wanted[0]], rel=1e-9)
    for told, params in found:
        assert [norm for _, norm in told] == pytest.approx([n for _, n in wanted[0]], rel=1e-9)
        for name, value in params.items():
            got, want = taeda.tensor(value), taeda.tensor(wanted[1][name])
            assert taeda.allclose(got, want, rtol=1e-6, atol=1e-7), name


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("way", WAYS)
def test_steps_are_those_of_one_process(way, mesh):
    wanted = steps(seed(), data())
    models = [seed() for _ in range(4)]

    def work(rank):
        shape, names = MESHES[mesh]
        grid = dist.init_device_mesh("cpu", shape, mesh_dim_names=names)
        model = WAYS[way](models[rank], grid)
        return steps(model, data().chunk(4)[rank])

    agree(on_threads(4, work), wanted)


def test_refusals_of_options():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        with pytest.raises(NotImplementedError, match="does not divide by 2"):
            fully_shard(
                nn.Linear(5, 2),
                mesh=mesh,
                shard_placement_fn=lambda p: Shard(p.ndim - 1) if p.ndim > 1 else None,
            )
        with pytest.raises(TypeError, match="Shard or None"):
            fully_shard(nn.Linear(2, 2), mesh=mesh, shard_placement_fn=lambda p: Replicate())
        with pytest.raises(TypeError, match="MixedPrecisionPolicy"):
            fully_shard(nn.Linear(2, 2), mesh=mesh, mp_policy=taeda.bfloat16)
        with pytest.raises(TypeError, match="OffloadPolicy"):
            fully_shard(nn.Linear(2, 2), mesh=mesh, offload_policy=True)
        with pytest.raises(ValueError, match="floating-point"):
            MixedPrecisionPolicy(param_dtype=taeda.int64)
        other = dist.init_device_mesh("cpu", (2,))
        part = parallelize_module(nn.Linear(4, 4), other, ColwiseParallel())
        with pytest.raises(ValueError, match="make one mesh with names"):
            fully_shard(part, mesh=mesh)
        assert not isinstance(nn.Linear(1, 1), FSDPModule)

    on_threads(2, work)
