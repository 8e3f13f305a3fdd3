"""Rates that follow half a cosine."""

from __future__ import annotations

import pytest
from schedules import LR, Rates, cos, made

from taeda.optim import lr_scheduler as lrs


class TestCosine(Rates):
    schedules = {
        "cosine": (
            lambda o: lrs.CosineAnnealingLR(o, 4, 0.1),
            lambda e: 0.1 + (LR - 0.1) * cos(e / 4),
        ),
        "restarts": (
            lambda o: lrs.CosineAnnealingWarmRestarts(o, 2, 2, 0.1),
            lambda e: (
                0.1
                + (LR - 0.1) * cos([0, 1 / 2, 0, 1 / 4, 2 / 4, 3 / 4, 0, 1 / 8, 2 / 8, 3 / 8][e])
            ),
        ),
    }


def test_restarts_take_fractions_of_epochs():
    scheduler = lrs.CosineAnnealingWarmRestarts(made(), 2)
    scheduler.step(2.5)
    assert scheduler.get_last_lr() == pytest.approx([LR * cos(0.25)])
