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


#: what each schedule wants besides the optimizer; those that are made of others have a test below
_WANTED = {
    "LambdaLR": (lambda epoch: 0.9**epoch,), "MultiplicativeLR": (lambda epoch: 0.9,), "StepLR": (2,),
    "MultiStepLR": ([1, 3],), "ConstantLR": (0.5, 2), "LinearLR": (0.5, 1.0, 3), "ExponentialLR": (0.9,),
    "CosineAnnealingLR": (4,), "PolynomialLR": (4,), "CyclicLR": (0.1, 1.0, 2), "OneCycleLR": (1.0, 9),
    "CosineAnnealingWarmRestarts": (2,), "ReduceLROnPlateau": ("min", 0.5, 0),
}  # fmt: skip
_COMBINED = {"LRScheduler", "SequentialLR", "ChainedScheduler"}


def _rates_of(name, rate):
    # no momentum: CyclicLR and OneCycleLR are asked not to cycle it
    optimizer = taeda.optim.SGD([taeda.ones(1, requires_grad=True)], lr=rate)
    options = {"cycle_momentum": False} if name in ("CyclicLR", "OneCycleLR") else {}
    schedule, found = getattr(lrs, name)(optimizer, *_WANTED[name], **options), []
    for _ in range(5):
        found.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        schedule.step(*((1.0,) if name == "ReduceLROnPlateau" else ()))
    return found, optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize("shape", [(), (1,)], ids=str)
@pytest.mark.parametrize("name", sorted(set(lrs.__all__) - _COMBINED))
def test_a_rate_may_be_a_tensor_of_one_element(name, shape):
    rate = taeda.full(shape, 0.1, dtype=taeda.float64)
    found, last = _rates_of(name, rate)
    assert found == pytest.approx(_rates_of(name, 0.1)[0])
    assert last is rate and rate.shape == shape
