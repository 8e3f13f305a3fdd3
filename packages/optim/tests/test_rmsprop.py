"""RMSprop against its formula, written down a second time in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from steps import Steps

import taeda
from taeda import optim


def rmsprop(
    p, g, s, t, *, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False
):
    g = g + weight_decay * p
    v = s["v"] = alpha * s.get("v", 0) + (1 - alpha) * g * g
    if centered:
        s["a"] = alpha * s.get("a", 0) + (1 - alpha) * g
        v = v - s["a"] ** 2
    s["b"] = momentum * s.get("b", 0) + g / (np.sqrt(v) + eps)
    return p - lr * s["b"]


class TestRMSprop(Steps):
    algorithm, formula = optim.RMSprop, staticmethod(rmsprop)
    cases = (
        {},
        {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.1},
        {"lr": 0.1, "centered": True, "alpha": 0.9},
    )
    refused = (
        ({"alpha": -1}, "alpha value: -1"),
        ({"momentum": -1}, "momentum value: -1"),
    )


@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [optim.RMSprop([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)
