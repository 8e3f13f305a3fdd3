"""Schedules made of others."""

from __future__ import annotations

import pytest
from schedules import LR, Rates, made

import taeda
from taeda.optim import lr_scheduler as lrs


class TestCombined(Rates):
    schedules = {
        "chained": (
            lambda o: lrs.ChainedScheduler([lrs.ConstantLR(o, 0.5, 3), lrs.ExponentialLR(o, 0.9)]),
            lambda e: LR * 0.9**e * (0.5 if e < 3 else 1),
        ),
        "sequential": (
            lambda o: lrs.SequentialLR(
                o, [lrs.ConstantLR(o, 0.5, 9), lrs.ExponentialLR(o, 0.9), lrs.StepLR(o, 2)], [3, 6]
            ),
            lambda e: LR * (0.5 if e < 3 else 0.9 ** (e - 3) if e < 6 else 0.1 ** ((e - 6) // 2)),
        ),
    }


def test_undoing_reaches_schedulers_inside_others():
    optimizer = made()
    inner = [lrs.StepLR(optimizer, 2), lrs.ExponentialLR(optimizer, 0.9)]
    chain = lrs.ChainedScheduler(inner)
    sequence = lrs.SequentialLR(optimizer, [lrs.ConstantLR(optimizer), chain], [2])
    epochs = [scheduler.last_epoch for scheduler in inner]
    sequence.recursive_undo()
    assert [scheduler.last_epoch for scheduler in inner] == [e - 1 for e in epochs]


def rates(make, steps):
    optimizer = taeda.optim.SGD([taeda.zeros(1, requires_grad=True)], lr=1.0)
    schedule, found = make(optimizer), []
    for _ in range(steps):
        found.append(round(optimizer.param_groups[0]["lr"], 6))
        optimizer.step()
        schedule.step()
    return found


def inner(optimizer):
    return {
        "sequence": lambda: lrs.SequentialLR(
            optimizer, [lrs.ConstantLR(optimizer, 0.5, 2), lrs.ExponentialLR(optimizer, 0.5)], [2]
        ),
        "chain": lambda: lrs.ChainedScheduler(
            [lrs.ConstantLR(optimizer, 0.5, 2), lrs.ExponentialLR(optimizer, 0.9)]
        ),
        "sequence of a chain": lambda: lrs.SequentialLR(
            optimizer, [inner(optimizer)["chain"]()], []
        ),
    }


ALONE = {
    "sequence": [0.5, 0.5, 1.0, 0.5, 0.25],
    "chain": [0.5, 0.45, 0.81, 0.729, 0.6561],
    "sequence of a chain": [0.5, 0.45, 0.81, 0.729, 0.6561],
}


@pytest.mark.parametrize("name", ALONE)
def test_a_schedule_of_several_inside_another_is_what_it_is_alone(name):
    assert rates(lambda o: inner(o)[name](), 5) == ALONE[name]
    first = rates(
        lambda o: lrs.SequentialLR(o, [inner(o)[name](), lrs.ConstantLR(o, 0.1, 9)], [5]), 7
    )
    assert first == [*ALONE[name], 0.1, 0.1]
    second = rates(
        lambda o: lrs.SequentialLR(o, [lrs.ConstantLR(o, 0.1, 9), inner(o)[name]()], [3]), 8
    )
    assert second == [0.1, 0.1, 0.1, *ALONE[name]]
