"""Losses of numbers as layers."""

from __future__ import annotations

import numpy as np
import pytest
from loss_references import P, T, X, Y, check_loss, huber

import taeda
from taeda import nn


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.HuberLoss(delta=1j), TypeError, "delta must be a float or int"),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()


LOSSES = [
    (nn.L1Loss, {}, (X, Y), np.abs(X - Y)),
    (nn.MSELoss, {}, (X, Y), (X - Y) ** 2),
    (nn.SmoothL1Loss, {"beta": 0.5}, (X, Y), huber(np.abs(X - Y), 0.5) / 0.5),
    (nn.SmoothL1Loss, {"beta": 0.0}, (X, Y), np.abs(X - Y)),
    (nn.HuberLoss, {"delta": 0.7}, (X, Y), huber(np.abs(X - Y), 0.7)),
    (nn.KLDivLoss, {"log_target": True}, (X, Y), np.exp(Y) * (Y - X)),
    (nn.PoissonNLLLoss, {}, (X, P), np.exp(X) - P * X),
    (nn.PoissonNLLLoss, {"log_input": False}, (P, T), P - T * np.log(P + 1e-8)),
    (nn.GaussianNLLLoss, {}, (X, Y, P), (np.log(P) + (X - Y) ** 2 / P) / 2),
]  # fmt: skip


IDS = [f"{case[0].__name__}-{case[1]}" for case in LOSSES]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(("kind", "options", "inputs", "expected"), LOSSES, ids=IDS)
def test_loss(kind, options, inputs, expected, reduction):
    check_loss(kind, options, inputs, expected, reduction)


def test_batchmean_divides_by_the_batch():
    x, y = taeda.from_numpy(X), taeda.from_numpy(P)
    total = nn.KLDivLoss(reduction="sum")(x, y)
    assert taeda.allclose(nn.KLDivLoss(reduction="batchmean")(x, y), total / 4)


ONES = taeda.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.SmoothL1Loss(beta=-1.0)(ONES, ONES), RuntimeError, "negative values for beta"),
        (
            lambda: nn.HuberLoss(delta=0.0)(ONES, ONES),
            RuntimeError,
            "non-positive values for delta",
        ),
        (lambda: nn.GaussianNLLLoss()(ONES, ONES, -ONES), ValueError, "negative entry"),
        (
            lambda: nn.GaussianNLLLoss()(ONES, ONES, taeda.ones(2)),
            ValueError,
            r"\(2,\) for input \(4, 3\)",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_broadcasting_warns():
    with pytest.warns(UserWarning, match="different to the input size"):
        nn.MSELoss()(ONES, ONES[:, :1])
