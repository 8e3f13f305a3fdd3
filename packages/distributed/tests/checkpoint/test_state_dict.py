"""States by name: wrappers do not show, optimizers fit after parameters moved."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed.checkpoint as dcp
from taeda import nn, optim
from taeda.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from taeda.nn.parallel import DistributedDataParallel


def trained(make, steps: int = 2):
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    optimizer = make(model)
    for step in range(steps):
        optimizer.zero_grad()
        model(taeda.full((2, 3), float(step))).sum().backward()
        optimizer.step()
    optimizer.zero_grad()
    return model, optimizer


MAKERS = {
    "adamw": lambda model: optim.AdamW(model.parameters(), lr=0.1),
    "sgd": lambda model: optim.SGD(model.parameters(), lr=0.1),
    "momentum": lambda model: optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
    "adagrad": lambda model: optim.Adagrad(model.parameters(), lr=0.1),
    "rmsprop": lambda model: optim.RMSprop(model.parameters(), lr=0.1, momentum=0.5),
    "tensor rate": lambda model: optim.Adam(model.parameters(), lr=taeda.tensor(0.1)),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("flat", [False, True])
def test_the_next_step_is_the_same_after_a_checkpoint(tmp_path, name, flat):
    options = StateDictOptions(flatten_optimizer_state_dict=flat)
    model, optimizer = trained(MAKERS[name])
    state, opt = get_state_dict(model, optimizer, options=options)
    dcp.save({"model": state, "opt": opt}, checkpoint_id=tmp_path)
    other, fresh = trained(MAKERS[name], steps=0)
    before = [param.tolist() for param in other.parameters()]
    state, opt = get_state_dict(other, fresh, options=options)
    assert [param.tolist() for param in other.parameters()] == before
    found = {"model": state, "opt": opt}
    dcp.load(found, checkpoint_id=tmp_path)
    set_state_dict(
        other,
        fresh,
        model_state_dict=found["model"],
        optim_state_dict=found["opt"],
        options=options,
    )
    for one, its in ((model, optimizer), (other, fresh)):
        one(taeda.ones(2, 3)).square().sum().backward()
        its.step()
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        assert a.tolist() == b.tolist()


def test_parameters_may_move_between_groups():
    model, optimizer = trained(MAKERS["adamw"])
    told = get_optimizer_state_dict(model, optimizer)
    assert told["param_groups"][0]["params"] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    groups = [{"params": list(model[1].parameters())}, {"params": list(model[0].parameters())}]
    moved = optim.AdamW(groups)
    set_optimizer_state_dict(model, moved, told)
    for param in model.parameters():
        assert (moved.state[param]["exp_avg"] == optimizer.state[param]["exp_avg"]).all()
    assert moved.param_groups[1]["lr"] == 0.1


def test_a_parameter_without_a_saved_state_is_named():
    model, optimizer = trained(MAKERS["adamw"])
    told = get_optimizer_state_dict(model, optimizer)
    told["param_groups"][0]["params"].remove("0.weight")
    with pytest.raises(KeyError, match=r"0\.weight"):
        set_optimizer_state_dict(model, optimizer, told)
    with pytest.raises(ValueError, match="none of the model"):
        get_optimizer_state_dict(nn.Linear(1, 1), optimizer)


def test_wrappers_do_not_show():
    def work(rank):
        model = nn.Sequential(nn.Linear(2, 2))
        return list(get_model_state_dict(DistributedDataParallel(model)))

    assert on_threads(1, work) == [["0.weight", "0.bias"]]


def test_frozen_parameters_may_be_left_out():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[0].requires_grad_(False)
    options = StateDictOptions(ignore_frozen_params=True)
    optimizer = optim.AdamW(model.parameters())
    state, opt = get_state_dict(model, optimizer, options=options)
    assert list(state) == ["1.weight", "1.bias"] and list(opt["state"]) == ["1.weight", "1.bias"]
    set_state_dict(model, optimizer, model_state_dict=state, optim_state_dict=opt, options=options)
