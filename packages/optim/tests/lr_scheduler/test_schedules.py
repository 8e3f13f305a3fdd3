"""The rates of every schedule against a closed form, and going on from a saved state."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda import optim
from taeda.optim import lr_scheduler as lrs
from taeda.optim.swa_utils import SWALR

LR = 0.5
cos = lambda share: (1 + math.cos(math.pi * share)) / 2  # noqa: E731


def made(lr=LR, **options):
    return optim.SGD([taeda.ones(1).requires_grad_()], lr=lr, momentum=0.9, **options)


def rates(scheduler, steps):
    """The rate of the present epoch, and those of the next ones."""
    group = scheduler.optimizer.param_groups[0]
    found = [float(group["lr"])]
    for _ in range(steps - 1):
        scheduler.optimizer.step()
        scheduler.step()
        found.append(float(group["lr"]))
        assert [float(x) for x in scheduler.get_last_lr()] == [float(group["lr"])]
    return found


def one_cycle(step, total=10, share=0.3):
    up = share * total - 1
    if step <= up:
        return LR + (LR / 25 - LR) * cos(step / up)
    low = LR / 25 / 1e4
    return low + (LR - low) * cos((step - up) / (total - 1 - up))


def triangle(step, height=1.0):
    position = step % 6
    return 0.1 + (LR - 0.1) * height * (position / 4 if position <= 4 else (6 - position) / 2)


SCHEDULES = {
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
    "cosine": (
        lambda o: lrs.CosineAnnealingLR(o, 4, 0.1),
        lambda e: 0.1 + (LR - 0.1) * cos(e / 4),
    ),
    "restarts": (
        lambda o: lrs.CosineAnnealingWarmRestarts(o, 2, 2, 0.1),
        lambda e: 0.1 + (LR - 0.1) * cos([0, 1 / 2, 0, 1 / 4, 2 / 4, 3 / 4, 0, 1 / 8, 2 / 8, 3 / 8][e]),
    ),
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
    "one cycle": (lambda o: lrs.OneCycleLR(o, LR, total_steps=10), one_cycle),
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
    "swa": (
        lambda o: SWALR(o, 0.1, 4),
        lambda e: 0.1 + (LR - 0.1) * cos(min(e, 4) / 4),
    ),
    "swa linear": (
        lambda o: SWALR(o, 0.1, 4, "linear"),
        lambda e: LR + (0.1 - LR) * min(e, 4) / 4,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "closed"), SCHEDULES.values(), ids=SCHEDULES)
def test_rates(make, closed):
    found = rates(make(made()), 10)
    assert found == pytest.approx([closed(e) for e in range(10)])


@pytest.mark.parametrize("make", [m for m, _ in SCHEDULES.values()], ids=SCHEDULES)
def test_a_rate_that_is_a_tensor_is_filled(make):
    rate = taeda.tensor(LR, dtype=taeda.float64)
    optimizer = made(rate)
    assert rates(make(optimizer), 10) == pytest.approx(rates(make(made()), 10))


@pytest.mark.parametrize("make", [m for m, _ in SCHEDULES.values()], ids=SCHEDULES)
def test_going_on_from_a_saved_state(make):
    wanted = rates(make(made()), 10)
    optimizer = made()
    scheduler = make(optimizer)
    rates(scheduler, 5)
    again = made()
    fresh = make(again)
    again.load_state_dict(optimizer.state_dict())
    fresh.load_state_dict(scheduler.state_dict())
    assert rates(fresh, 6) == pytest.approx(wanted[4:])


def test_momentum_goes_against_the_rate():
    optimizer = made()
    scheduler = lrs.CyclicLR(optimizer, 0.1, LR, 4, base_momentum=0.8, max_momentum=0.95)
    assert optimizer.param_groups[0]["momentum"] == 0.95
    rates(scheduler, 5)
    assert optimizer.param_groups[0]["momentum"] == pytest.approx(0.8)
    adam = optim.Adam([taeda.ones(1).requires_grad_()])
    rates(lrs.OneCycleLR(adam, 0.1, total_steps=11, pct_start=0.5), 5)
    assert adam.param_groups[0]["betas"][0] == pytest.approx(0.85, abs=0.01)
    assert adam.param_groups[0]["betas"][1] == 0.999


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


def test_restarts_take_fractions_of_epochs():
    scheduler = lrs.CosineAnnealingWarmRestarts(made(), 2)
    scheduler.step(2.5)
    assert scheduler.get_last_lr() == pytest.approx([LR * cos(0.25)])


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


def test_undoing_reaches_schedulers_inside_others():
    optimizer = made()
    inner = [lrs.StepLR(optimizer, 2), lrs.ExponentialLR(optimizer, 0.9)]
    chain = lrs.ChainedScheduler(inner)
    sequence = lrs.SequentialLR(optimizer, [lrs.ConstantLR(optimizer), chain], [2])
    epochs = [scheduler.last_epoch for scheduler in inner]
    sequence.recursive_undo()
    assert [scheduler.last_epoch for scheduler in inner] == [e - 1 for e in epochs]
