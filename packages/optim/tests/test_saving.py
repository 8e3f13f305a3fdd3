"""State as a dict and back; training goes on from a file bit for bit: parameters, optimizers,
schedules and generators.
"""

from __future__ import annotations

import copy
import io
import math
import pickle

import pytest

import taeda
from taeda import optim
from taeda.optim import SGD, Adam
from taeda.optim import lr_scheduler as schedules


def through_a_file(value):
    file = io.BytesIO()
    taeda.save(value, file)
    file.seek(0)
    return taeda.load(file)


def parameters():
    values = taeda.linspace(-1, 1, 12).reshape(3, 4), taeda.linspace(1, 2, 8).reshape(4, 2)
    return [value.clone().requires_grad_() for value in values]


OPTIMIZERS = {
    "ASGD": lambda p: optim.ASGD(p, lr=0.001, t0=1),
    "Adadelta": optim.Adadelta,
    "Adafactor": optim.Adafactor,
    "Adagrad": optim.Adagrad,
    "Adam": lambda p: optim.Adam([{"params": p[:1], "lr": 0.1}, {"params": p[1:]}], amsgrad=True),
    "AdamW": optim.AdamW,
    "Adamax": optim.Adamax,
    "LBFGS": lambda p: optim.LBFGS(p, max_iter=3, line_search_fn="strong_wolfe"),
    "Muon": optim.Muon,
    "NAdam": optim.NAdam,
    "RAdam": optim.RAdam,
    "RMSprop": lambda p: optim.RMSprop(p, momentum=0.9, centered=True),
    "Rprop": optim.Rprop,
    "SGD": lambda p: optim.SGD(p, lr=0.001, momentum=0.9, nesterov=True),
}


def train(values, optimizer, generator, steps=4, after=lambda loss: None):
    for _ in range(steps):
        noise = taeda.rand(3, 2, generator=generator)

        def loss(noise=noise):
            optimizer.zero_grad()
            made = ((values[0] @ values[1] - noise) ** 2).sum()
            made.backward()
            return made

        after(optimizer.step(loss).item())


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_every_optimizer(make):
    values, generator = parameters(), taeda.Generator().manual_seed(0)
    optimizer = make(values)
    train(values, optimizer, generator)
    state = through_a_file(
        {
            "values": values,
            "optimizer": optimizer.state_dict(),
            "generator": generator.get_state(),
        }
    )
    train(values, optimizer, generator)

    again, resumed = state["values"], taeda.Generator().set_state(state["generator"])
    other = make(again)
    other.load_state_dict(state["optimizer"])
    train(again, other, resumed)
    for value, wanted in zip(again, values, strict=True):
        assert value.requires_grad
        assert taeda.equal(value, wanted)
        assert bool(taeda.isfinite(value).all())


SCHEDULES = {
    "step": lambda o: schedules.StepLR(o, 2),
    "multi-step": lambda o: schedules.MultiStepLR(o, [1, 4, 4]),
    "exponential": lambda o: schedules.ExponentialLR(o, 0.9),
    "cosine": lambda o: schedules.CosineAnnealingLR(o, 10),
    "restarts": lambda o: schedules.CosineAnnealingWarmRestarts(o, 3),
    "cyclic": lambda o: schedules.CyclicLR(o, 0.01, 0.1, step_size_up=3),
    "one cycle": lambda o: schedules.OneCycleLR(o, 0.1, total_steps=20),
    "plateau": lambda o: schedules.ReduceLROnPlateau(o, patience=0),
    "linear": schedules.LinearLR,
    "polynomial": lambda o: schedules.PolynomialLR(o, 12, 2.0),
    "lambda": lambda o: schedules.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    "chained": lambda o: schedules.ChainedScheduler(
        [schedules.ConstantLR(o, 0.5, 3), schedules.ExponentialLR(o, 0.9)]
    ),
    "sequential": lambda o: schedules.SequentialLR(
        o, [schedules.ConstantLR(o, 0.5, 3), schedules.ExponentialLR(o, 0.9)], [5]
    ),
}


@pytest.mark.parametrize("make", SCHEDULES.values(), ids=SCHEDULES)
def test_every_schedule(make):
    def advance(schedule, optimizer, steps):
        rates = []
        for number in range(steps):
            optimizer.step()
            metric = [1.0] if isinstance(schedule, schedules.ReduceLROnPlateau) else []
            schedule.step(*metric)
            rates.append((number, optimizer.param_groups[0]["lr"]))
        return rates

    def fresh():
        value = taeda.ones(2, requires_grad=True)
        value.grad = taeda.ones(2)
        optimizer = optim.SGD([value], lr=0.1, momentum=0.9)
        return optimizer, make(optimizer)

    optimizer, schedule = fresh()
    advance(schedule, optimizer, 4)
    state = through_a_file([optimizer.state_dict(), schedule.state_dict()])
    wanted = advance(schedule, optimizer, 8)
    other, other_schedule = fresh()
    other.load_state_dict(state[0])
    other_schedule.load_state_dict(state[1])
    assert advance(other_schedule, other, 8) == wanted
    assert all(math.isfinite(rate) for _, rate in wanted)


def leaf(*values):
    return taeda.tensor(values or (1.0, 2.0)).requires_grad_()


def with_gradient(*values):
    param = leaf(*values)
    param.grad = taeda.ones_like(param.detach())
    return param


def test_state_is_saved_by_position():
    a, b = with_gradient(1.0), with_gradient(2.0)
    optimizer = SGD([{"params": [a]}, {"params": [b], "lr": 0.1}], lr=0.2, momentum=0.9)
    optimizer.step()
    saved = optimizer.state_dict()
    assert list(saved["state"]) == [0, 1]
    assert [group["params"] for group in saved["param_groups"]] == [[0], [1]]
    assert saved["state"][0]["momentum_buffer"] is optimizer.state[a]["momentum_buffer"]


def test_loading_goes_on_as_if_nothing_had_happened():
    def walk(optimizer, param, steps):
        for _ in range(steps):
            param.grad = param.detach() * 2
            optimizer.step()
        return param.tolist()

    whole = leaf(1.0, -2.0)
    wanted = walk(Adam([whole], lr=0.1), whole, 6)
    first = leaf(1.0, -2.0)
    optimizer = Adam([first], lr=0.1)
    walk(optimizer, first, 3)
    second = first.detach().clone().requires_grad_()
    fresh = Adam([second], lr=5.0)
    fresh.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert walk(fresh, second, 3) == wanted


def test_loaded_state_takes_the_dtype_of_its_parameter_but_step_does_not():
    p = with_gradient()
    optimizer = Adam([p])
    optimizer.step()
    double = leaf().to(taeda.float64).detach().requires_grad_()
    fresh = Adam([double])
    fresh.load_state_dict(optimizer.state_dict())
    state = fresh.state[double]
    assert state["exp_avg"].dtype == taeda.float64
    assert state["step"].dtype == taeda.float32


def test_loading_does_not_touch_the_dict_it_was_given():
    optimizer = SGD([leaf()], lr=0.5)
    saved = optimizer.state_dict()
    before = copy.deepcopy(saved)
    SGD([leaf()]).load_state_dict(saved)
    assert saved == before


@pytest.mark.parametrize(
    ("groups", "fact"),
    [(2, "different number of parameter groups"), (1, "doesn't match the size")],
)
def test_states_of_other_shapes_are_refused(groups, fact):
    saved = SGD([{"params": [leaf()]} for _ in range(groups)]).state_dict()
    with pytest.raises(ValueError, match=fact):
        SGD([leaf(), leaf()]).load_state_dict(saved)


def test_loading_keeps_names():
    optimizer = SGD([("a", leaf())])
    optimizer.load_state_dict(SGD([leaf()]).state_dict())
    assert optimizer.param_groups[0]["param_names"] == ["a"]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_step_like_the_original(again):
    p = with_gradient()
    optimizer = Adam([p], lr=0.1)
    optimizer.step()
    copied = again(optimizer)
    (twin,) = copied.param_groups[0]["params"]
    for o, q in ((optimizer, p), (copied, twin)):
        q.grad = taeda.ones(2)
        o.step()
    assert twin.tolist() == p.tolist()
    assert twin is not p


def test_options_missing_in_old_states_get_their_defaults():
    optimizer = Adam([leaf()])
    group = {"params": [0], "lr": 0.1, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0}
    optimizer.load_state_dict({"state": {}, "param_groups": [group]})
    assert optimizer.param_groups[0]["amsgrad"] is False
    optimizer.step()


def test_numbers_as_steps_in_old_states_become_tensors():
    p = with_gradient()
    optimizer = Adam([p])
    optimizer.step()
    saved = optimizer.state_dict()
    saved["state"][0]["step"] = 1
    fresh = Adam([with_gradient()])
    fresh.load_state_dict(saved)
    fresh.step()
    (state,) = fresh.state.values()
    assert state["step"].item() == 2.0
