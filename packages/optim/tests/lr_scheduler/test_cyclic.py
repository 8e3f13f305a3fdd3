"""Rates that go up and down."""

from __future__ import annotations

from schedules import LR, Rates

from taeda.optim import lr_scheduler as lrs


def triangle(step, height=1.0):
    position = step % 6
    return 0.1 + (LR - 0.1) * height * (position / 4 if position <= 4 else (6 - position) / 2)


class TestCyclic(Rates):
    schedules = {
        "cyclic": (
            lambda o: lrs.CyclicLR(o, 0.1, LR, 4, 2),
            triangle,
        ),
        "cyclic halved": (
            lambda o: lrs.CyclicLR(o, 0.1, LR, 4, 2, mode="triangular2"),
            lambda e: triangle(e, 0.5 ** (e // 6)),
        ),
        "cyclic shrinking": (
            lambda o: lrs.CyclicLR(o, 0.1, LR, 4, 2, mode="exp_range", gamma=0.9),
            lambda e: triangle(e, 0.9**e),
        ),
    }
