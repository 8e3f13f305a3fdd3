"""Adamax against its formula, written down a second time in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from steps import Steps

import taeda
from taeda import optim


def adamax(p, g, s, t, *, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
    g = g + weight_decay * p
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["u"] = np.maximum(betas[1] * s.get("u", 0), np.abs(g) + eps)
    return p - lr / (1 - betas[0] ** t) * s["m"] / s["u"]


class TestAdamax(Steps):
    algorithm, formula = optim.Adamax, staticmethod(adamax)
    cases = ({"lr": 0.1, "weight_decay": 0.1},)
    refused = (({"betas": (1, 0)}, "index 0: 1"),)


@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [optim.Adamax([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)
