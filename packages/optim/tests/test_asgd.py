"""ASGD against its formula, written down a second time in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from steps import Steps

import taeda
from taeda import optim


def asgd(p, g, s, t, *, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0):
    g = g + weight_decay * p
    eta, mu = s.get("eta", lr), s.get("mu", 1)
    p = p * (1 - lambd * eta) - eta * g
    s["ax"] = p if mu == 1 else s["ax"] + mu * (p - s["ax"])
    s["eta"] = lr / (1 + lambd * lr * t) ** alpha
    s["mu"] = 1 / max(1, t - t0)
    return p


class TestASGD(Steps):
    algorithm, formula = optim.ASGD, staticmethod(asgd)
    cases = (
        {"lr": 0.1, "lambd": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "t0": 3},
    )
    refused = (({"weight_decay": -1}, "weight_decay value: -1"),)


@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [optim.ASGD([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)
