"""FullyShardedDataParallel: every strategy against one process, its types of states, and what it refuses."""

from __future__ import annotations

import functools

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.fsdp import (
    CPUOffload,
    MixedPrecision,
    ShardingStrategy,
)
from taeda.distributed.fsdp import FullyShardedDataParallel as FSDP
from taeda.distributed.fsdp.wrap import (
    CustomPolicy,
    ModuleWrapPolicy,
    always_wrap_policy,
    lambda_auto_wrap_policy,
    size_based_auto_wrap_policy,
    transformer_auto_wrap_policy,
)

ROWS = 8


class Block(nn.Module):
    """Two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(6, 9), nn.Linear(9, 6)

    def forward(self, x):
        return x + self.down(self.up(x).tanh())


def seed():
    taeda.manual_seed(6)
    return nn.Sequential(nn.Linear(6, 6), Block(), Block(), nn.Linear(6, 5)).double()


def data():
    maker = taeda.Generator().manual_seed(1)
    return taeda.randn(ROWS, 6, generator=maker, dtype=taeda.float64)


def train(model, x, clip, quiet=None, count=3):
    optimizer = taeda.optim.Adam(model.parameters(), lr=0.02)
    told = []
    for _ in range(count):
        optimizer.zero_grad()
        halves = x.chunk(2) if quiet else [x]
        total = 0.0
        for number, piece in enumerate(halves):
            with quiet() if quiet and number == 0 else taeda.enable_grad():
                loss = model(piece).square().mean() / len(halves)
                loss.backward()
            total += loss.item()
        norm = clip(model)
        optimizer.step()
        told.append((total, float(norm)))
    return told, optimizer


def plain_clip(model):
    return nn.utils.clip_grad_norm_(model.parameters(), 0.5)


POLICIES = {
    "none": None,
    "classes": {Block},
    "module": ModuleWrapPolicy({Block}),
    "always": always_wrap_policy,
    "size": functools.partial(size_based_auto_wrap_policy, min_num_params=60),
    "transformer": functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}),
    "lambda": functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda m: isinstance(m, Block)),
    "custom": CustomPolicy(lambda m: {"forward_prefetch": True} if isinstance(m, Block) else False),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("strategy", list(ShardingStrategy))
def test_steps_are_those_of_one_process(strategy, policy):
    one = seed()
    wanted, _ = train(one, data(), plain_clip)
    models = [seed() for _ in range(4)]

    def work(rank):
        options = {}
        if "HYBRID" in strategy.name:
            options["device_mesh"] = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("r", "s"))
        model = FSDP(
            models[rank],
            sharding_strategy=strategy,
            auto_wrap_policy=POLICIES[policy],
            forward_prefetch=policy == "module",
            cpu_offload=CPUOffload(True),
            **options,
        )
        told, _ = train(model, data().chunk(4)[rank], lambda m: m.clip_grad_norm_(0.5))
        assert model.check_is_root() and not any(
            p.check_is_root() for p in FSDP.fsdp_modules(model)[1:]
        )
        return told, model.state_dict()

    found = on_threads(4, work)
    for step in range(3):
        assert sum(told[step][0] for told, _ in found) / 4 == pytest.approx(
            wanted[step][0], rel=1e-9
        )
        assert all(told[step][1] == pytest.approx(wanted[step][1], rel=1e-9) for told, _ in found)
    for _, state in found:
        assert list(state) == list(one.state_dict())
        for name, value in one.state_dict().items():
            assert taeda.allclose(state[name], value, atol=1e-8), name


def test_no_sync():
    wanted, _ = train(seed(), data(), plain_clip)
    models = [seed() for _ in range(2)]

    def work(rank):
        model = FSDP(models[rank], auto_wrap_policy={Block})
        rows = data().chunk(2)[rank]
        return train(model, rows, lambda m: m.clip_grad_norm_(0.5), model.no_sync)[0]

    found = on_threads(2, work)
    for step in range(3):
        assert sum(told[step][0] for told in found) / 2 == pytest.approx(wanted[step][0], rel=1e-9)


def test_meta_modules_mixed_precision_and_hooks():
    calls = []

    def hook(state, rows, row):
        calls.append(state)
        dist.reduce_scatter_tensor(row, rows, dist.ReduceOp.AVG)

    models = [seed() for _ in range(2)]

    def work(rank):
        with taeda.device("meta"):
            late = nn.Linear(4, 4)
        taeda.manual_seed(rank)
        FSDP(late, sync_module_states=True)
        made = FSDP.state_dict(FSDP(nn.Linear(2, 2), sync_module_states=True))["weight"].tolist()
        norm = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        low = FSDP(
            norm,
            auto_wrap_policy={nn.Linear},
            mixed_precision=MixedPrecision(taeda.bfloat16, taeda.float32, taeda.float32),
        )
        assert isinstance(low[1], FSDP) and low[1].mixed_precision is None
        model = FSDP(models[rank])
        model.register_comm_hook("state", hook)
        with pytest.raises(RuntimeError, match="already"):
            model.register_comm_hook("state", hook)
        told, _ = train(model, data().chunk(2)[rank], lambda m: m.clip_grad_norm_(0.5))
        return made, [norm for _, norm in told]

    found = on_threads(2, work)
    wanted, _ = train(seed(), data(), plain_clip)
    assert found[0][0] == found[1][0] and calls == ["state"] * 6
    assert found[0][1] == pytest.approx([norm for _, norm in wanted], rel=1e-9)
