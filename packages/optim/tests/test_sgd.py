"""SGD against its formula, written down a second time in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from steps import Steps

import taeda
from taeda import optim


def sgd(p, g, s, t, *, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False):
    g = g + weight_decay * p
    if momentum:
        s["v"] = g if t == 1 else momentum * s["v"] + (1 - dampening) * g
        g = g + momentum * s["v"] if nesterov else s["v"]
    return p - lr * g


class TestSGD(Steps):
    algorithm, formula = optim.SGD, staticmethod(sgd)
    cases = (
        {},
        {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.5},
        {"lr": 0.05, "momentum": 0.9, "nesterov": True},
    )
    refused = (
        ({"momentum": -1}, "momentum value: -1"),
        ({"weight_decay": -1}, "weight_decay value: -1"),
        ({"nesterov": True}, "Nesterov"),
    )


@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [optim.SGD([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)


def test_a_rate_can_be_learned():
    lr = taeda.tensor(0.1, requires_grad=True)
    param = taeda.ones(3).requires_grad_().clone()
    optimizer = optim.SGD([param], lr=lr, differentiable=True)
    param.grad = taeda.full((3,), 2.0)
    optimizer.step()
    param.sum().backward()
    assert lr.grad.item() == pytest.approx(-6.0)
