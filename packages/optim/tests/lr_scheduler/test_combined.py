"""Schedules made of others."""

from __future__ import annotations

from schedules import LR, Rates, made

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
