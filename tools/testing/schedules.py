"""Rates of a schedule against a closed form: a test file gives the schedules, and inherits the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import taeda
from taeda import optim

__all__ = ["LR", "Rates", "cos", "made", "rates"]

LR = 0.5


def cos(share: float) -> float:
    """Half a wave: from 1 to 0."""
    return (1 + math.cos(math.pi * share)) / 2


def made(lr: Any = LR, **options: Any) -> Any:
    """An optimizer to schedule."""
    return optim.SGD([taeda.ones(1).requires_grad_()], lr=lr, momentum=0.9, **options)


def rates(scheduler: Any, steps: int) -> list[float]:
    """The rate of the present epoch, and those of the next ones."""
    group = scheduler.optimizer.param_groups[0]
    found = [float(group["lr"])]
    for _ in range(steps - 1):
        scheduler.optimizer.step()
        scheduler.step()
        found.append(float(group["lr"]))
        assert [float(x) for x in scheduler.get_last_lr()] == [float(group["lr"])]
    return found


class Rates:
    """What every schedule has to hold."""

    #: name -> (optimizer -> schedule, epoch -> rate)
    schedules: ClassVar[dict[str, tuple[Callable[[Any], Any], Callable[[int], float]]]]

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """One test for each schedule."""
        if "name" in metafunc.fixturenames:
            metafunc.parametrize("name", list(self.schedules))

    def test_rates(self, name):
        make, closed = self.schedules[name]
        assert rates(make(made()), 10) == pytest.approx([closed(e) for e in range(10)])

    def test_a_rate_that_is_a_tensor_is_filled(self, name):
        make, _ = self.schedules[name]
        rate = taeda.tensor(LR, dtype=taeda.float64)
        assert rates(make(made(rate)), 10) == pytest.approx(rates(make(made()), 10))

    def test_going_on_from_a_saved_state(self, name):
        make, _ = self.schedules[name]
        wanted = rates(make(made()), 10)
        optimizer = made()
        scheduler = make(optimizer)
        rates(scheduler, 5)
        again = made()
        fresh = make(again)
        again.load_state_dict(optimizer.state_dict())
        fresh.load_state_dict(scheduler.state_dict())
        assert rates(fresh, 6) == pytest.approx(wanted[4:])
