"""Losses of classes as layers."""

from __future__ import annotations

import numpy as np
import pytest
from loss_references import LABELS, PICKED, P, T, X, check_loss, log_softmax, margins, softplus

import taeda
from taeda import nn


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.MultiMarginLoss(p=3), ValueError, "p == 1 and p == 2 supported, got 3"),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()


LOSSES = [
    (nn.CrossEntropyLoss, {}, (X, LABELS), PICKED),
    (nn.CrossEntropyLoss, {"label_smoothing": 0.3}, (X, LABELS), 0.7 * PICKED - 0.3 * log_softmax(X).mean(1)),
    (nn.CrossEntropyLoss, {}, (X, P), -(log_softmax(X) * P).sum(1)),
    (nn.NLLLoss, {}, (log_softmax(X), LABELS), PICKED),
    (nn.BCELoss, {}, (P, T), -(T * np.log(P) + (1 - T) * np.log(1 - P))),
    (nn.BCEWithLogitsLoss, {}, (X, T), softplus(X) - T * X),
    (nn.MultiLabelSoftMarginLoss, {}, (X, T), (softplus(X) - T * X).mean(1)),
    (nn.MultiMarginLoss, {}, (X, LABELS), margins(X, LABELS)),
    (nn.MultiMarginLoss, {"p": 2}, (X, LABELS), margins(X, LABELS, 2)),
]  # fmt: skip


IDS = [f"{case[0].__name__}-{case[1]}" for case in LOSSES]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(("kind", "options", "inputs", "expected"), LOSSES, ids=IDS)
def test_loss(kind, options, inputs, expected, reduction):
    check_loss(kind, options, inputs, expected, reduction)


def test_labels_end_at_the_first_minus_one():
    x = taeda.tensor([[0.1, 0.2, 0.4, 0.8]])
    loss = nn.MultiLabelMarginLoss()(x, taeda.tensor([[3, 0, -1, 1]]))
    expected = sum(max(0, 1 - (a - b)) for a in (0.8, 0.1) for b in (0.2, 0.4)) / 4
    assert loss.item() == pytest.approx(expected)


def test_the_mean_is_over_the_weights_of_the_targets():
    weight = np.array([1.0, 2.0, 4.0], "float32")
    loss = nn.CrossEntropyLoss(taeda.from_numpy(weight))
    result = loss(taeda.from_numpy(X), taeda.from_numpy(LABELS)).item()
    assert result == pytest.approx((PICKED * weight[LABELS]).sum() / weight[LABELS].sum(), rel=1e-5)


def test_ignored_targets_do_not_count():
    labels = LABELS.copy()
    labels[1] = -100
    result = nn.CrossEntropyLoss()(taeda.from_numpy(X), taeda.from_numpy(labels)).item()
    assert result == pytest.approx(PICKED[[0, 2, 3]].mean(), rel=1e-5)
    nothing = taeda.full((4,), -100)
    assert nn.CrossEntropyLoss()(taeda.from_numpy(X), nothing).isnan()


def test_pos_weight():
    weight = np.array([1.0, 3.0, 0.5], "float32")
    loss = nn.BCEWithLogitsLoss(pos_weight=taeda.from_numpy(weight), reduction="none")
    expected = weight * T * softplus(-X) + (1 - T) * softplus(X)
    np.testing.assert_allclose(
        loss(taeda.from_numpy(X), taeda.from_numpy(T)).numpy(), expected, rtol=1e-4, atol=1e-5
    )


ONES = taeda.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.BCELoss()(ONES, ONES[:, :1]), ValueError, r"\[4, 1\].*\[4, 3\]"),
        (lambda: nn.BCELoss()(ONES * 2, ONES), RuntimeError, "between 0 and 1"),
        (lambda: nn.BCEWithLogitsLoss()(ONES, ONES[:, :1]), ValueError, r"\[4, 1\].*\[4, 3\]"),
        (lambda: nn.CrossEntropyLoss()(ONES, taeda.zeros(2).long()), ValueError, "[24]"),
        (lambda: nn.CrossEntropyLoss()(ONES, taeda.tensor([0, 1, 2, 9])), IndexError, "9"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
