"""Rates that fall by a rule of the epoch."""

from __future__ import annotations

import pytest
from schedules import LR, Rates, made

import taeda
from taeda import optim
from taeda.optim import lr_scheduler as lrs


class TestDecay(Rates):
    schedules = {
        "lambda": (lambda o: lrs.LambdaLR(o, lambda e: 1 / (1 + e)), lambda e: LR / (1 + e)),
        "multiplicative": (lambda o: lrs.MultiplicativeLR(o, lambda e: 0.9), lambda e: LR * 0.9**e),
        "step": (lambda o: lrs.StepLR(o, 3, 0.1), lambda e: LR * 0.1 ** (e // 3)),
        "multi step": (
            lambda o: lrs.MultiStepLR(o, [2, 5, 5], 0.1),
            lambda e: LR * 0.1 ** ((e >= 2) + 2 * (e >= 5)),
        ),
        "constant": (lambda o: lrs.ConstantLR(o, 0.25, 4), lambda e: LR * (0.25 if e < 4 else 1)),
        "linear": (
            lambda o: lrs.LinearLR(o, 0.2, 0.8, 5),
            lambda e: LR * (0.2 + 0.6 * min(e, 5) / 5),
        ),
        "exponential": (lambda o: lrs.ExponentialLR(o, 0.9), lambda e: LR * 0.9**e),
        "polynomial": (
            lambda o: lrs.PolynomialLR(o, 6, 2.0),
            lambda e: LR * (1 - min(e, 6) / 6) ** 2,
        ),
    }


def test_each_group_has_its_own_rates():
    p, q = (taeda.ones(1).requires_grad_() for _ in range(2))
    optimizer = optim.SGD([{"params": p, "lr": 1.0}, {"params": q, "lr": 2.0}])
    scheduler = lrs.LambdaLR(optimizer, [lambda e: 0.5**e, lambda e: 0.1**e])
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([0.5, 0.2])


def test_the_deprecated_epoch_uses_the_closed_form():
    scheduler = lrs.StepLR(made(), 3, 0.1)
    scheduler.optimizer.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        scheduler.step(7)
    assert scheduler.get_last_lr() == pytest.approx([LR * 0.01])


def test_callable_objects_are_saved_with_their_attributes():
    class Factor:
        def __init__(self, base):
            self.base = base

        def __call__(self, epoch):
            return self.base**epoch

    state = lrs.LambdaLR(made(), Factor(0.5)).state_dict()
    assert state["lr_lambdas"] == [{"base": 0.5}]
    fresh = lrs.LambdaLR(made(), Factor(0.9))
    fresh.load_state_dict(state)
    assert fresh.lr_lambdas[0].base == 0.5
    assert lrs.LambdaLR(made(), lambda e: 1.0).state_dict()["lr_lambdas"] == [None]
