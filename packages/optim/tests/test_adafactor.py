"""Adafactor against its formula, written down a second time in numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from steps import START, TARGET, Steps, walk

import taeda
from taeda import optim


def adafactor(p, g, s, t, *, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0):
    least = np.finfo(p.dtype).eps if eps[0] is None else eps[0]
    rms = lambda x: math.sqrt((x * x).mean())  # noqa: E731
    step = max(eps[1], rms(p)) * min(lr, 1 / math.sqrt(t))
    p = p * (1 - lr * weight_decay)
    w = t**beta2_decay
    if p.ndim > 1:
        s["r"] = (1 - w) * s.get("r", 0) + w * (g * g).mean(-1, keepdims=True)
        s["c"] = (1 - w) * s.get("c", 0) + w * (g * g).mean(-2, keepdims=True)
        v = s["r"] @ s["c"] / np.maximum(s["r"].mean(-2, keepdims=True), least)
    else:
        v = s["v"] = (1 - w) * s.get("v", 0) + w * g * g
    update = g / np.sqrt(np.maximum(v, least**2))
    return p - step / max(1, rms(update) / d) * update


class TestAdafactor(Steps):
    algorithm, formula = optim.Adafactor, staticmethod(adafactor)
    cases = (
        {},
        {"lr": 0.5, "weight_decay": 0.1, "d": 1.5, "eps": (1e-3, 0.1)},
    )
    refused = (
        ({"d": 0.5}, "threshold d"),
        ({"beta2_decay": 1}, "beta2_decay"),
    )
    only_double = ({},)


def test_adafactor_of_a_vector_keeps_every_square():
    found = list(walk(optim.Adafactor, {"lr": 0.1}, shape=(6,)))
    p, state = START.reshape(6), {}
    for t, ours in enumerate(found, 1):
        p = adafactor(p, 2 * (p - TARGET.reshape(6)), state, t, lr=0.1)
        np.testing.assert_allclose(ours, p, 1e-7)


def test_complex_parameters_are_refused():
    param = taeda.ones(2, dtype=taeda.complex64).requires_grad_()
    param.grad = param.detach().clone()
    with pytest.raises(RuntimeError, match="complex"):
        optim.Adafactor([param]).step()
