"""Waiting for a value to stop getting better."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda import optim
from taeda.optim.lr_scheduler import ReduceLROnPlateau


def walk(values, **options):
    optimizer = optim.SGD([taeda.ones(1).requires_grad_()], lr=1.0)
    scheduler = ReduceLROnPlateau(optimizer, factor=0.5, **options)
    found = []
    for value in values:
        scheduler.step(value)
        found.append(optimizer.param_groups[0]["lr"])
    return found


CASES = {
    "patience": ([3, 3, 3, 3], {"patience": 1}, [1, 1, 0.5, 0.5]),
    "better": ([3, 2, 1], {"patience": 0}, [1, 1, 1]),
    "higher is better": ([1, 2, 1], {"patience": 0, "mode": "max"}, [1, 1, 0.5]),
    "cooldown": ([3, 3, 3, 3, 3], {"patience": 0, "cooldown": 2}, [1, 0.5, 0.5, 0.5, 0.25]),
    "not enough": ([1.0, 0.95, 0.9], {"patience": 0, "threshold": 0.2}, [1, 0.5, 0.25]),
    "absolute": (
        [1.0, 0.85, 0.7],
        {"patience": 0, "threshold": 0.1, "threshold_mode": "abs"},
        [1, 1, 1],
    ),
    "lowest": ([3, 3, 3], {"patience": 0, "min_lr": 0.4}, [1, 0.5, 0.4]),
    "tiny changes": ([3, 3], {"patience": 0, "eps": 0.6}, [1, 1]),
    "nan is never better": ([1, math.nan], {"patience": 0}, [1, 0.5]),
}


@pytest.mark.parametrize(("values", "options", "wanted"), CASES.values(), ids=CASES)
def test_rates(values, options, wanted):
    assert walk(values, **options) == wanted


def test_the_state_goes_on():
    optimizer = optim.SGD([taeda.ones(1).requires_grad_()], lr=1.0)
    scheduler = ReduceLROnPlateau(optimizer, patience=1)
    scheduler.step(1.0)
    scheduler.step(taeda.tensor(2.0))
    fresh = ReduceLROnPlateau(optimizer, patience=9)
    fresh.load_state_dict(scheduler.state_dict())
    assert (fresh.best, fresh.num_bad_epochs, fresh.patience) == (1.0, 1, 1)
    fresh.step(2.0)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.1)


def test_groups_that_came_later():
    optimizer = optim.SGD([taeda.ones(1).requires_grad_()], lr=1.0)
    scheduler = ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.1])
    optimizer.add_param_group({"params": [taeda.ones(1).requires_grad_()]})
    scheduler.step(1.0)
    with pytest.raises(RuntimeError, match="2 groups"):
        scheduler.step(1.0)
