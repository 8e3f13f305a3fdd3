"""The line search for the strong Wolfe conditions."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda.optim._line_search import strong_wolfe

CURVES = {
    "square": lambda x: (x - 3) ** 2,
    "steep": lambda x: 50 * (x - 0.01) ** 2,
    "far": lambda x: (x - 200) ** 2 / 1000,
    "waves": lambda x: (x - 2) ** 2 / 4 - np.cos(3 * x),
    "quartic": lambda x: (x - 1) ** 4 + 0.1 * x,
}


def slope(curve, x):
    return (curve(x + 1e-6) - curve(x - 1e-6)) / 2e-6


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("first", [0.01, 1.0, 10.0])
def test_the_point_meets_both_conditions(curve, first):
    direction = taeda.ones(1, dtype=taeda.float64) * -np.sign(slope(curve, 0.0))
    sign = direction.item()

    def evaluate(length):
        x = sign * float(length)
        return curve(x), taeda.tensor([slope(curve, x)], dtype=taeda.float64)

    loss, gradient = evaluate(0.0)
    steepness = gradient.dot(direction)
    found, _ = strong_wolfe(evaluate, direction, first, loss, gradient, steepness)
    assert found.loss <= loss + 1e-4 * float(found.length) * steepness.item() + 1e-12
    assert abs(found.slope.item()) <= 0.9 * abs(steepness.item()) + 1e-9
