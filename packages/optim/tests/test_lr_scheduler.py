"""The public names of schedules."""

from __future__ import annotations

import pytest
from schedules import LR, Rates, cos

from taeda.optim import lr_scheduler as lrs
from taeda.optim.swa_utils import SWALR


@pytest.mark.parametrize("name", lrs.__all__)
def test_every_name_is_a_schedule(name):
    assert issubclass(getattr(lrs, name), lrs.LRScheduler)


def test_the_old_name_of_the_base():
    assert issubclass(lrs._LRScheduler, lrs.LRScheduler)


# Here and not in test_swa_utils.py, which needs models: this one runs without them.
class TestSWALR(Rates):
    schedules = {
        "swa": (
            lambda o: SWALR(o, 0.1, 4),
            lambda e: 0.1 + (LR - 0.1) * cos(min(e, 4) / 4),
        ),
        "swa linear": (
            lambda o: SWALR(o, 0.1, 4, "linear"),
            lambda e: LR + (0.1 - LR) * min(e, 4) / 4,
        ),
    }
