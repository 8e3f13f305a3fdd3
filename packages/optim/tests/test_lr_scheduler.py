"""The public names of schedules."""

from __future__ import annotations

import pickle

import pytest
from schedules import LR, Rates, cos

import taeda
from taeda.optim import lr_scheduler as lrs
from taeda.optim.swa_utils import SWALR


@pytest.mark.parametrize("name", lrs.__all__)
def test_every_name_is_a_schedule(name):
    assert issubclass(getattr(lrs, name), lrs.LRScheduler)


@pytest.mark.parametrize("name", lrs.__all__)
def test_pickles_name_the_public_place(name):
    assert getattr(lrs, name).__module__ == "taeda.optim.lr_scheduler"


def test_files_that_name_the_old_place_still_load():
    schedule = lrs.StepLR(taeda.optim.SGD([taeda.ones(1, requires_grad=True)], lr=0.5), 3)
    place = b"taeda.optim.lr_scheduler\n"
    raw = pickle.dumps(schedule, 2)
    assert place in raw
    for written in (raw, raw.replace(place, b"taeda.optim.lr_scheduler._decay\n")):
        found = pickle.loads(written)
        assert type(found) is lrs.StepLR
        assert found.last_epoch == schedule.last_epoch
        assert found.step_size == 3


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
