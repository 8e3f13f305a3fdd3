"""Adam against its formula, written down a second time in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from steps import Steps, decoupled, means

import taeda
from taeda import optim


def adam(
    p,
    g,
    s,
    t,
    *,
    lr=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0,
    amsgrad=False,
    decoupled_weight_decay=False,
):
    p, g = decoupled(p, g, lr, weight_decay, decoupled_weight_decay)
    m, v = means(g, s, betas)
    if amsgrad:
        v = s["max"] = np.maximum(s.get("max", 0), v)
    return p - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)


class TestAdam(Steps):
    algorithm, formula = optim.Adam, staticmethod(adam)
    cases = (
        {},
        {"lr": 0.3, "betas": (0.5, 0.9), "weight_decay": 0.1},
        {"lr": 0.3, "amsgrad": True, "betas": (0.5, 0.6)},
        {"lr": 0.3, "weight_decay": 0.1, "decoupled_weight_decay": True},
    )
    refused = (
        ({"eps": -1}, "epsilon value: -1"),
        ({"betas": (1, 0)}, "index 0: 1"),
        ({"betas": (0, 1.2)}, "index 1: 1.2"),
        ({"betas": (taeda.tensor(0.9), 0.9)}, "both floats"),
        ({"lr": taeda.tensor(0.1), "foreach": True}, "foreach"),
        ({"weight_decay": -1}, "weight_decay value: -1"),
    )


@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [optim.Adam([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)
