"""Order of calls, resuming, refusals."""

from __future__ import annotations

import warnings

import pytest

import taeda
from taeda import optim
from taeda.optim import lr_scheduler as lrs
from taeda.optim.swa_utils import SWALR


def made(**options):
    return optim.SGD([taeda.ones(1).requires_grad_()], lr=0.5, momentum=0.9, **options)


def test_making_one_sets_the_first_rate_and_keeps_the_initial_one():
    optimizer = made()
    lrs.ConstantLR(optimizer, 0.5)
    assert optimizer.param_groups[0]["lr"] == 0.25
    assert optimizer.param_groups[0]["initial_lr"] == 0.5


def test_stepping_first_warns_once():
    scheduler = lrs.StepLR(made(), 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


def test_the_right_order_does_not_warn():
    optimizer = made()
    scheduler = lrs.StepLR(optimizer, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        scheduler.step()


def test_a_step_that_was_replaced_warns():
    optimizer = made()
    scheduler = lrs.StepLR(optimizer, 1)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="replaced"):
        scheduler.step()


def test_get_lr_is_for_step():
    with pytest.warns(UserWarning, match="get_last_lr"):
        lrs.StepLR(made(), 1).get_lr()


def test_resuming_wants_the_initial_rate():
    with pytest.raises(KeyError, match="initial_lr"):
        lrs.StepLR(made(), 1, last_epoch=3)
    optimizer = made()
    optimizer.param_groups[0]["initial_lr"] = 1.0
    assert lrs.StepLR(optimizer, 2, last_epoch=3).last_epoch == 4


def test_the_state_has_no_optimizer():
    assert set(lrs.StepLR(made(), 3).state_dict()) == {
        "step_size",
        "gamma",
        "base_lrs",
        "last_epoch",
        "_step_count",
        "_is_initial",
        "_get_lr_called_within_step",
        "_last_lr",
    }


def test_too_many_steps_of_one_cycle():
    optimizer = made()
    scheduler = lrs.OneCycleLR(optimizer, 0.1, total_steps=2)
    for _ in range(2):
        optimizer.step()
        scheduler.step()
    with pytest.raises(ValueError, match="Tried to step 3 times"):
        scheduler.step()


def on(optimizer, make):
    return make(optimizer)


def rprop():
    return optim.Rprop([taeda.ones(1).requires_grad_()])


REFUSED = {
    "no optimizer": (lambda: lrs.StepLR(3, 1), TypeError, "int is not an Optimizer"),
    "two functions": (lambda: lrs.LambdaLR(made(), [abs, abs]), ValueError, "1 lr_lambdas"),
    "factor": (lambda: lrs.ConstantLR(made(), 2), ValueError, "Got 2"),
    "start": (lambda: lrs.LinearLR(made(), 0), ValueError, "Got 0"),
    "end": (lambda: lrs.LinearLR(made(), 1, 3), ValueError, "Got 3"),
    "T_0": (lambda: lrs.CosineAnnealingWarmRestarts(made(), 0), ValueError, "T_0, but got 0"),
    "T_mult": (lambda: lrs.CosineAnnealingWarmRestarts(made(), 1, 0), ValueError, "T_mult"),
    "epoch": (
        lambda: lrs.CosineAnnealingWarmRestarts(made(), 1).step(-1),
        ValueError,
        "but got -1",
    ),
    "no momentum": (lambda: lrs.CyclicLR(rprop(), 0.1, 1.0), ValueError, "Rprop"),
    "mode": (lambda: lrs.CyclicLR(made(), 0.1, 1.0, mode="x"), ValueError, "'x'"),
    "two rates": (lambda: lrs.CyclicLR(made(), [0.1, 0.2], 1.0), ValueError, "base_lr has 2"),
    "no length": (lambda: lrs.OneCycleLR(made(), 0.1), ValueError, "total_steps OR"),
    "no divisor": (
        lambda: lrs.OneCycleLR(made(), 0.1, total_steps=4, div_factor=0.0),
        ValueError,
        "^div_factor divides a rate",
    ),
    "length": (lambda: lrs.OneCycleLR(made(), 0.1, total_steps=-1), ValueError, "got -1"),
    "epochs": (
        lambda: lrs.OneCycleLR(made(), 0.1, epochs=-3, steps_per_epoch=2),
        ValueError,
        "epochs, but got -3",
    ),
    "pct_start": (
        lambda: lrs.OneCycleLR(made(), 0.1, total_steps=5, pct_start=2),
        ValueError,
        "pct_start",
    ),
    "strategy": (
        lambda: lrs.OneCycleLR(made(), 0.1, total_steps=5, anneal_strategy="x"),
        ValueError,
        "instead got x",
    ),
    "plateau factor": (lambda: lrs.ReduceLROnPlateau(made(), factor=1.0), ValueError, "1.0"),
    "plateau mode": (lambda: lrs.ReduceLROnPlateau(made(), mode="x"), ValueError, "mode x"),
    "no schedulers": (lambda: lrs.ChainedScheduler([]), ValueError, "no scheduler"),
    "two optimizers": (
        lambda: lrs.ChainedScheduler([lrs.StepLR(made(), 1), lrs.StepLR(made(), 1)]),
        ValueError,
        "same optimizer",
    ),
    "a plateau inside": (
        lambda: lrs.ChainedScheduler([lrs.ReduceLROnPlateau(made())]),
        ValueError,
        "index 0",
    ),
    "milestones": (
        lambda: on(made(), lambda o: lrs.SequentialLR(o, [lrs.StepLR(o, 1)], [1])),
        ValueError,
        "schedulers 1 and",
    ),
    "no scheduler": (
        lambda: on(made(), lambda o: lrs.SequentialLR(o, [3], [])),
        TypeError,
        "index 0",
    ),
    "swa strategy": (lambda: SWALR(made(), 0.1, anneal_strategy="x"), ValueError, "got x"),
    "swa epochs": (lambda: SWALR(made(), 0.1, anneal_epochs=-1), ValueError, "got -1"),
}


@pytest.mark.parametrize(("make", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refusals(make, error, fact):
    with pytest.raises(error, match=fact):
        make()
