"""Losses of pairs and triplets as layers."""

from __future__ import annotations

import numpy as np
import pytest
from loss_references import SIGN, P, X, Y, check_loss, distance, softplus

import taeda
from taeda import nn


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.TripletMarginLoss(margin=-1), ValueError, "greater than 0, got -1"),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()


LOSSES = [
    (nn.SoftMarginLoss, {}, (X, SIGN), softplus(-SIGN * X)),
    (nn.HingeEmbeddingLoss, {}, (X, SIGN), np.where(SIGN > 0, X, np.maximum(0, 1 - X))),
    (nn.MarginRankingLoss, {"margin": 0.2}, (X, Y, SIGN), np.maximum(0, -SIGN * (X - Y) + 0.2)),
    (nn.TripletMarginLoss, {}, (X, Y, P), np.maximum(0, 1 + distance(X, Y) - distance(X, P))),
    (nn.TripletMarginLoss, {"swap": True, "p": 1}, (X, Y, P),
     np.maximum(0, 1 + distance(X, Y, 1) - np.minimum(distance(X, P, 1), distance(Y, P, 1)))),
    (nn.TripletMarginWithDistanceLoss, {"margin": 0.5}, (X, Y, P),
        np.maximum(0, 0.5 + distance(X, Y) - distance(X, P))),
]  # fmt: skip


IDS = [f"{case[0].__name__}-{case[1]}" for case in LOSSES]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(("kind", "options", "inputs", "expected"), LOSSES, ids=IDS)
def test_loss(kind, options, inputs, expected, reduction):
    check_loss(kind, options, inputs, expected, reduction)


def test_cosine_embedding():
    cosine = (X * Y).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1)
    sign = np.array([1, -1, 1, -1])
    expected = np.where(sign == 1, 1 - cosine, np.maximum(0, cosine - 0.1))
    loss = nn.CosineEmbeddingLoss(0.1, reduction="none")
    result = loss(*map(taeda.from_numpy, (X, Y, sign)))
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)
