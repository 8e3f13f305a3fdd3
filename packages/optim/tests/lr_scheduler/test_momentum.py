"""Momentum that goes against the rate."""

from __future__ import annotations

import pytest
from schedules import LR, made, rates

import taeda
from taeda import optim
from taeda.optim import lr_scheduler as lrs


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


def test_bounds_of_each_group():
    p, q = (taeda.ones(1).requires_grad_() for _ in range(2))
    optimizer = optim.SGD([{"params": p}, {"params": q}], lr=0.1, momentum=0.9)
    lrs.CyclicLR(optimizer, 0.1, LR, base_momentum=[0.8, 0.7], max_momentum=[0.9, 0.95])
    assert [group["momentum"] for group in optimizer.param_groups] == [0.9, 0.95]
    assert [group["base_momentum"] for group in optimizer.param_groups] == [0.8, 0.7]


def test_an_optimizer_without_momentum_is_refused():
    plain = optim.Adagrad([taeda.ones(1).requires_grad_()])
    for make in (
        lambda: lrs.CyclicLR(plain, 0.1, LR),
        lambda: lrs.OneCycleLR(plain, LR, total_steps=5),
    ):
        with pytest.raises(ValueError, match=r"momentum or beta1.*Adagrad has neither"):
            make()
    lrs.CyclicLR(plain, 0.1, LR, cycle_momentum=False)
