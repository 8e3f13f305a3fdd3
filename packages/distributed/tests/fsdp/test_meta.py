"""Modules on the device meta, and shards that come from elsewhere: assigned, moved, of rank 0."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
from taeda import nn
from taeda.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from taeda.distributed.fsdp import fully_shard
from taeda.distributed.tensor import DTensor


class Net(nn.Module):
    """Layers of odd sizes, a weight that two share, and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(3, 5), nn.LayerNorm(5)
        self.second, self.third = nn.Linear(5, 5, bias=False), nn.Linear(5, 5)
        self.third.weight = self.second.weight
        self.register_buffer("scale", taeda.ones(5))

    def forward(self, x):
        return self.third(self.second(self.norm(self.first(x)))) * self.scale

    def start(self):
        taeda.manual_seed(3)
        for part in self.modules():
            if hasattr(part, "reset_parameters"):
                part.reset_parameters()
        self.scale = taeda.full((5,), 2.0)
        return self


X = taeda.arange(12.0).view(4, 3) / 10


def cut(model):
    fully_shard(model.first)
    return fully_shard(model)


def trained(model, steps=2):
    optimizer = taeda.optim.AdamW(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(X).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, optimizer


@pytest.mark.parametrize("size", [1, 2, 3])
def test_made_on_meta_and_given_values_it_trains_as_on_one_process(size):
    wanted, _ = trained(Net().start())

    def work(rank):
        with taeda.device("meta"):
            model = Net()
        cut(model)
        assert all(p.is_meta and isinstance(p, DTensor) for p in model.parameters())
        model.to_empty(device="cpu")
        assert model.third.weight is model.second.weight
        assert not any(p.is_meta for p in model.parameters())
        return trained(model.start())[0]

    for losses in on_threads(size, work):
        assert losses == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("flat", [True, False])
def test_rank_0_alone_has_a_state(size, flat):
    whole = Net().start()
    _, optimizer = trained(whole)
    kind = {"flatten_optimizer_state_dict": flat}
    state = whole.state_dict()
    steps = get_optimizer_state_dict(whole, optimizer, options=StateDictOptions(**kind))
    loss = whole(X).square().mean().item()

    def work(rank):
        with taeda.device("meta"):
            model = Net()
        cut(model).to_empty(device="cpu")
        options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True, **kind)
        set_model_state_dict(model, state if rank == 0 else {}, options=options)
        made = taeda.optim.AdamW(model.parameters(), lr=0.5)
        set_optimizer_state_dict(model, made, steps if rank == 0 else {}, options=options)
        assert made.param_groups[0]["lr"] == 0.1
        again = StateDictOptions(full_state_dict=True)
        got = get_optimizer_state_dict(model, made, options=again)
        assert got["state"]["first.weight"]["step"] == 2
        got = get_model_state_dict(model, options=again)
        assert all(taeda.equal(got[name], value) for name, value in state.items())
        return model(X).square().mean().item()

    assert on_threads(size, work) == pytest.approx([loss] * size, rel=1e-5)


def test_options_that_do_not_go_together():
    with pytest.raises(ValueError, match="full_state_dict=True"):
        StateDictOptions(broadcast_from_rank0=True)
    with pytest.raises(ValueError, match="keep_submodule_prefixes"):
        StateDictOptions(keep_submodule_prefixes=False)
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    with pytest.raises(RuntimeError, match="init_process_group"):
        set_model_state_dict(Net(), {}, options=options)


def test_assigned_shards_are_the_units_and_others_are_refused():
    def work(rank):
        model = cut(Net())
        before = {name: value.detach() * 2 for name, value in model.state_dict().items()}
        model.load_state_dict(before, assign=True)
        once = model(X)
        plain = Net()
        full = {
            name: value.full_tensor() if isinstance(value, DTensor) else value
            for name, value in before.items()
        }
        plain.load_state_dict(full)
        assert taeda.allclose(once, plain(X))
        once.sum().backward()
        assert all(p.grad is not None for p in model.parameters())
        model.first.weight = nn.Parameter(taeda.ones(5, 3))
        with pytest.raises(
            RuntimeError, match=r"weight of a unit of fully_shard was replaced by a Parameter"
        ):
            model(X)

    on_threads(2, work)
