"""Whole parameters for a while."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
from taeda import nn
from taeda.distributed.fsdp import FullyShardedDataParallel as FSDP
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


def test_whole_parameters_are_written_back():
    models = [seed() for _ in range(2)]

    def work(rank):
        model = FSDP(models[rank], auto_wrap_policy={Block})
        model(data()).sum().backward()
        with FSDP.summon_full_params(model, with_grads=True):
            weight = model[1].up.weight
            assert weight.shape == (9, 6) and weight.grad.shape == (9, 6)
            assert "1.up.weight" in dict(model.named_parameters())
            with taeda.no_grad():
                weight.fill_(3)
        with FSDP.summon_full_params(model, writeback=False):
            assert (model[1].up.weight == 3).all()
            with taeda.no_grad():
                model[1].up.weight.zero_()
        with FSDP.summon_full_params(model, rank0_only=True, writeback=False):
            whole = model[1].up.weight
            assert isinstance(whole, DTensor) == (rank != 0)
        model.apply(lambda part: part.bias.data.fill_(7) if isinstance(part, nn.Linear) else None)
        assert (model.state_dict()["1.up.bias"] == 7).all()
        assert (model.state_dict()["1.up.weight"] == 3).all()
        with pytest.raises(NotImplementedError, match="writeback=False"):
            FSDP.summon_full_params(model, rank0_only=True)

    on_threads(2, work)
