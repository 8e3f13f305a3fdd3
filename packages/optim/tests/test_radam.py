"""RAdam against its formula, written down a second time in numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from steps import Steps, decoupled, means

import taeda
from taeda import optim


def radam(
    p,
    g,
    s,
    t,
    *,
    lr=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0,
    decoupled_weight_decay=False,
):
    p, g = decoupled(p, g, lr, weight_decay, decoupled_weight_decay)
    m, v = means(g, s, betas)
    m = m / (1 - betas[0] ** t)
    most = 2 / (1 - betas[1]) - 1
    rho = most - 2 * t * betas[1] ** t / (1 - betas[1] ** t)
    if rho <= 5:
        return p - lr * m
    r = math.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
    return p - lr * m * r * math.sqrt(1 - betas[1] ** t) / (np.sqrt(v) + eps)


class TestRAdam(Steps):
    algorithm, formula = optim.RAdam, staticmethod(radam)
    cases = (
        {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "betas": (0.8, 0.99), "decoupled_weight_decay": True},
    )
    refused = (({"betas": (0, 1.2)}, "index 1: 1.2"),)


@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [optim.RAdam([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)


def test_the_variance_of_a_short_memory_is_never_known():
    for beta2 in (0.0, 1 / 3, 0.6):  # an average of length 1, 2 and 4: no step divides
        p = taeda.ones(3, requires_grad=True)
        made = optim.RAdam([p], lr=0.5, betas=(0.0, beta2))
        for _ in range(3):
            p.grad = taeda.full((3,), 0.25)
            made.step()
        assert p.tolist() == [1 - 3 * 0.125] * 3
