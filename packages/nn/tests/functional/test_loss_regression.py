"""Losses of numbers."""

from __future__ import annotations

import pytest
from loss_references import P, X, Y

import taeda
from taeda import nn


def test_weighted_regression_averages_over_the_weights():
    x, y, w = map(taeda.from_numpy, (X, Y, P))
    result = nn.functional.mse_loss(x, y, weight=w).item()
    assert result == pytest.approx(((X - Y) ** 2 * P).sum() / P.sum(), rel=1e-5)


ONES = taeda.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: nn.functional.mse_loss(ONES, ONES, weight=ONES[0]),
            ValueError,
            r"\(3,\) and \(4, 3\)",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
