"""Adagrad against its formula, written down a second time in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from steps import Steps

import taeda
from taeda import optim


def adagrad(
    p, g, s, t, *, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10
):
    g = g + weight_decay * p
    s["sum"] = s.get("sum", initial_accumulator_value) + g * g
    return p - lr / (1 + (t - 1) * lr_decay) * g / (np.sqrt(s["sum"]) + eps)


class TestAdagrad(Steps):
    algorithm, formula = optim.Adagrad, staticmethod(adagrad)
    cases = (
        {},
        {"lr": 0.5, "lr_decay": 0.1, "initial_accumulator_value": 0.1},
        {"lr": 0.5, "weight_decay": 0.1},
    )
    refused = (
        ({"lr_decay": -1}, "lr_decay value: -1"),
        ({"initial_accumulator_value": -1}, "initial_accumulator_value"),
    )


@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [optim.Adagrad([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)
