"""Types of states, and settings that are refused."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.fsdp import (
    BackwardPrefetch,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalStateDictConfig,
    StateDictType,
)
from taeda.distributed.fsdp import FullyShardedDataParallel as FSDP
from taeda.distributed.fsdp.wrap import (
    enable_wrap,
    wrap,
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


def test_types_of_states_and_refusals():
    def work(rank):
        model = FSDP(seed(), auto_wrap_policy={Block})
        config = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
        with FSDP.state_dict_type(
            model, StateDictType.FULL_STATE_DICT, config, FullOptimStateDictConfig()
        ):
            assert bool(model.state_dict()) == (rank == 0)
            assert FSDP.get_state_dict_type(model).state_dict_config == config
        assert model.state_dict()
        with pytest.raises(RuntimeError, match="FullStateDictConfig"):
            FSDP.set_state_dict_type(model, StateDictType.FULL_STATE_DICT, LocalStateDictConfig())
        FSDP.set_state_dict_type(model[1], StateDictType.LOCAL_STATE_DICT)
        with pytest.raises(AssertionError, match="different"):
            FSDP.get_state_dict_type(model)
        with pytest.raises(RuntimeError, match="outermost"):
            model[1].clip_grad_norm_(1)
        with pytest.raises(RuntimeError, match="outermost"), model[1].no_sync():
            pass
        mesh = dist.init_device_mesh("cpu", (2,))
        with pytest.raises(ValueError, match="not both"):
            FSDP(seed(), dist.group.WORLD, device_mesh=mesh)
        with pytest.raises(ValueError, match="not both"):
            FSDP(seed(), ignored_modules=[nn.Linear(1, 1)], ignored_states=[])
        mixed = seed()
        mixed[0].weight.requires_grad_(False)
        with pytest.raises(ValueError, match="use_orig_params=True"):
            FSDP(mixed)
        FSDP(mixed, use_orig_params=True)
        left = seed()
        held = left[3].weight
        assert FSDP(left, ignored_states=[held]).module[3].weight is held
        with enable_wrap(wrapper_cls=FSDP, backward_prefetch=BackwardPrefetch.BACKWARD_POST):
            assert isinstance(wrap(nn.Linear(2, 2)), FSDP)
        assert isinstance(wrap(nn.Linear(2, 2)), nn.Linear)

    on_threads(2, work)
