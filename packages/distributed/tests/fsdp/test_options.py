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
    register_fsdp_forward_method,
)
from taeda.distributed.tensor import DTensor, Replicate, Shard
from taeda.distributed.tensor.debug import CommDebugMode
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
        model, mesh, mp_policy=MixedPrecisionPolicy(reduce_dtype=taeda.float64)),
    "one list": listed,
}  # fmt: skip
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


def test_ignored_parameters_stay_and_other_methods_gather():
    models = [seed() for _ in range(2)]
    wanted = seed().scores(data()).detach()

    def work(rank):
        model = models[rank]
        left = model.last.weight
        fully_shard(model, ignored_params={left})
        register_fsdp_forward_method(model, "scores")
        register_fsdp_forward_method(nn.Linear(1, 1), "forward")
        assert model.last.weight is left and not isinstance(left, DTensor)
        assert taeda.allclose(model.scores(data()), wanted)
        model.scores(data()).sum().backward()
        assert model.blocks[0].w1.weight.grad is not None and left.grad is not None
        handle = model.unshard(async_op=True)
        handle.wait()
        assert model.blocks[0].w1.weight.shape == (10, 6)
        assert not isinstance(model.blocks[0].w1.weight, DTensor)
        model.reshard()
        assert isinstance(model.blocks[0].w1.weight, DTensor)
        assert model.unshard() is None
        model.reshard()

    on_threads(2, work)


def test_what_is_counted_divided_and_hooked():
    models = [seed() for _ in range(2)]

    def work(rank):
        model = shard(models[rank], dist.init_device_mesh("cpu", (2,)))
        model(data()).sum().backward()
        mean = model.last.bias.grad.full_tensor()
        model.zero_grad()
        model.set_reduce_scatter_divide_factor(1.0)
        with CommDebugMode() as mode:
            model(data()).sum().backward()
        assert mode.get_comm_counts() == {"all_gather_into_tensor": 7, "reduce_scatter_tensor": 4}
        assert taeda.allclose(model.last.bias.grad.full_tensor(), mean * 2)
        model.zero_grad()
        model.set_all_reduce_hook(lambda row: row.zero_())
        model(data()).sum().backward()
        assert not model.last.bias.grad.full_tensor().any()
        with pytest.raises(ValueError, match="fully_shard was called for"):
            model.set_modules_to_forward_prefetch([nn.Linear(1, 1)])
        model.float()
        assert model(data().float()).dtype is taeda.float32

    on_threads(2, work)


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
