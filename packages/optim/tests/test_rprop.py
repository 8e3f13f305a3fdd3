"""Rprop against its formula, written down a second time in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from steps import Steps

import taeda
from taeda import optim


def rprop(p, g, s, t, *, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50)):
    sign = np.sign(g * s.get("g", 0 * g))
    factor = np.choose(sign.astype(int) + 1, [etas[0], 1.0, etas[1]])
    s["size"] = np.clip(s.get("size", lr) * factor, *step_sizes)
    g = np.where(sign < 0, 0, g)
    s["g"] = g
    return p - np.sign(g) * s["size"]


class TestRprop(Steps):
    algorithm, formula = optim.Rprop, staticmethod(rprop)
    cases = (
        {"lr": 0.5},
        {"lr": 0.5, "etas": (0.3, 2.0), "step_sizes": (0.01, 0.8)},
    )
    refused = (({"etas": (2, 1)}, "eta values: 2, 1"),)
    smooth = False  # it looks at signs only


@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [optim.Rprop([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)
