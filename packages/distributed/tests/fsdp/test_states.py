"""States of models and optimizers go out and in."""

from __future__ import annotations

import copy

import pytest
from rank_threads import on_threads

import taeda
from taeda import nn
from taeda.distributed.fsdp import FullyShardedDataParallel as FSDP
from taeda.distributed.fsdp import (
    OptimStateKeyType,
    StateDictType,
)
from taeda.distributed.tensor import DTensor

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


@pytest.mark.parametrize("kind", list(StateDictType))
def test_states_go_out_and_in(kind):
    models = [(seed(), seed()) for _ in range(2)]

    def work(rank):
        model = FSDP(models[rank][0], auto_wrap_policy={Block})
        _told, optimizer = train(model, data().chunk(2)[rank], lambda m: m.clip_grad_norm_(0.5))
        other = FSDP(models[rank][1], auto_wrap_policy={Block})
        second = taeda.optim.Adam(other.parameters(), lr=0.5)
        for one in (model, other):
            FSDP.set_state_dict_type(one, kind)
        state = model.state_dict()
        first = next(iter(state.values()))
        assert isinstance(first, DTensor) == (kind is StateDictType.SHARDED_STATE_DICT)
        other.load_state_dict(state)
        # a copy, as optimizers share what they load
        held = copy.deepcopy(FSDP.optim_state_dict(model, optimizer))
        assert "1.up.weight" in held["state"]
        second.load_state_dict(FSDP.optim_state_dict_to_load(other, second, held))

        def more(model, optimizer):
            model(data()).square().mean().backward()
            optimizer.step()
            with FSDP.summon_full_params(model):
                return [p.detach().clone() for p in model.parameters()]

        optimizer.zero_grad()
        for a, b in zip(more(model, optimizer), more(other, second), strict=True):
            assert taeda.equal(a, b)

    on_threads(2, work)


def test_older_functions_of_optimizer_states():
    models = [seed() for _ in range(2)]

    def work(rank):
        model = FSDP(models[rank])
        _, optimizer = train(model, data().chunk(2)[rank], lambda m: m.clip_grad_norm_(0.5))
        full = FSDP.full_optim_state_dict(model, optimizer)
        assert bool(full) == (rank == 0)
        names = FSDP.full_optim_state_dict(model, optimizer, rank0_only=False)
        wanted = optimizer.state_dict()["state"][0]["exp_avg"]
        for made in (
            FSDP.scatter_full_optim_state_dict(full if rank == 0 else None, model, optim=optimizer),
            FSDP.shard_full_optim_state_dict(names, model, optim=optimizer),
            FSDP.flatten_sharded_optim_state_dict(
                FSDP.sharded_optim_state_dict(model, optimizer), model, optimizer),
        ):  # fmt: skip
            assert taeda.equal(made["state"][0]["exp_avg"].to_local(), wanted.to_local())
            optimizer.load_state_dict(made)
        numbers = FSDP.rekey_optim_state_dict(names, OptimStateKeyType.PARAM_ID, model)
        assert sorted(numbers["state"]) == list(range(len(numbers["state"])))
        back = FSDP.rekey_optim_state_dict(numbers, OptimStateKeyType.PARAM_NAME, model)
        assert list(back["state"]) == list(names["state"])

    on_threads(2, work)
