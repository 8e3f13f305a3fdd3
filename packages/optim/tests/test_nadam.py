"""NAdam against its formula, written down a second time in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from steps import Steps, decoupled, means

import taeda
from taeda import optim


def nadam(
    p,
    g,
    s,
    t,
    *,
    lr=2e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0,
    momentum_decay=4e-3,
    decoupled_weight_decay=False,
):
    p, g = decoupled(p, g, lr, weight_decay, decoupled_weight_decay)
    mu = betas[0] * (1 - 0.5 * 0.96 ** (t * momentum_decay))
    following = betas[0] * (1 - 0.5 * 0.96 ** ((t + 1) * momentum_decay))
    product = s["product"] = s.get("product", 1) * mu
    m, v = means(g, s, betas)
    ahead = following * m / (1 - product * following) + (1 - mu) * g / (1 - product)
    return p - lr * ahead / (np.sqrt(v / (1 - betas[1] ** t)) + eps)


class TestNAdam(Steps):
    algorithm, formula = optim.NAdam, staticmethod(nadam)
    cases = (
        {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True},
    )
    refused = (
        ({"momentum_decay": -1}, "momentum_decay"),
        ({"betas": (1, 0)}, "index 0: 1"),
    )


@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [optim.NAdam([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)
