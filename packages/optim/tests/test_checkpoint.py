"""Training goes on from a file bit for bit: parameters, optimizers, schedules and generators."""

from __future__ import annotations

import io
import math

import pytest

import taeda
from taeda import optim
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
