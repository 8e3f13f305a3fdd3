"""Losses of classes by definition: values, gradients, weights, places, edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda.autograd import gradcheck
from taeda.nn import functional as F

RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 3))
SURE = RNG.uniform(0.05, 0.95, size=(4, 3))
TARGET = RNG.uniform(0, 1, size=(4, 3))
LABELS = np.array([0, 2, 1, 2])
WEIGHT = np.array([0.5, 2.0, 1.0])
LOG = X - np.logaddexp.reduce(X, -1, keepdims=True)
ROWS = np.arange(4)


def tensors(*arrays):
    return [taeda.from_numpy(np.ascontiguousarray(a)) for a in arrays]


def cross(probability, target, positive=1.0):
    return -(positive * target * np.log(probability) + (1 - target) * np.log(1 - probability))


def margins(margin, p, weight):
    rows = np.maximum(0, margin - X[ROWS, LABELS][:, None] + X) ** p
    rows[ROWS, LABELS] = 0
    return weight[LABELS] * rows.sum(1) / 3


SIGMOID = 1 / (1 + np.exp(-X))
W = taeda.from_numpy(WEIGHT)
CASES = {
    "nll_loss": (lambda x, y, **o: F.nll_loss(x, y, W, **o), (LOG, LABELS),
        -WEIGHT[LABELS] * LOG[ROWS, LABELS]),
    "cross_entropy": (lambda x, y, **o: F.cross_entropy(x, y, W, **o), (X, LABELS),
        -WEIGHT[LABELS] * LOG[ROWS, LABELS]),
    "probabilities": (lambda x, y, **o: F.cross_entropy(x, y, W, **o), (X, TARGET),
        -(WEIGHT * TARGET * LOG).sum(1)),
    "smoothed": (lambda x, y, **o: F.cross_entropy(x, y, label_smoothing=0.2, **o), (X, LABELS),
                 -0.8 * LOG[ROWS, LABELS] - 0.2 * LOG.mean(1)),
    "binary": (lambda x, y, **o: F.binary_cross_entropy(x, y, W, **o), (SURE, TARGET),
        WEIGHT * cross(SURE, TARGET)),
    "logits": (lambda x, y, **o: F.binary_cross_entropy_with_logits(x, y, W, pos_weight=2 * W, **o),
               (X, TARGET),
               WEIGHT * cross(SIGMOID, TARGET, 2 * WEIGHT)),
    "several": (lambda x, y, **o: F.multilabel_soft_margin_loss(x, y, W, **o), (X, TARGET),
                (WEIGHT * cross(SIGMOID, TARGET)).mean(1)),
    "margin": (lambda x, y, **o: F.multi_margin_loss(x, y, 1, 0.7, W, **o), (X, LABELS),
        margins(0.7, 1, WEIGHT)),
    "square": (lambda x, y, **o: F.multi_margin_loss(x, y, 2, 0.7, W, **o), (X, LABELS),
        margins(0.7, 2, WEIGHT)),
}  # fmt: skip
OF_WEIGHTS = {"nll_loss", "cross_entropy"}  # their mean is over the weights


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", CASES)
def test_values(name, reduction):
    function, given, wanted = CASES[name]
    made = function(*tensors(*given), reduction=reduction)
    if reduction == "mean" and name in OF_WEIGHTS:
        wanted = wanted.sum() / WEIGHT[LABELS].sum()
    elif reduction != "none":
        wanted = getattr(np, reduction)(wanted)
    np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, given, _ = CASES[name]
    x, y = tensors(*given)
    assert gradcheck(lambda x: function(x, y), (x.requires_grad_(),))


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_classes_at_places(name):
    function = getattr(F, name)
    x, labels = taeda.randn(2, 3, 4, 5, dtype=taeda.float64), taeda.randint(0, 3, (2, 4, 5))
    flat = function(x.movedim(1, -1).reshape(-1, 3), labels.flatten(), reduction="none")
    assert taeda.allclose(function(x, labels, reduction="none").flatten(), flat)
    alone = function(x[0, :, 0, 0], labels[0, 0, 0])
    assert alone.shape == () and alone.item() == pytest.approx(flat[0].item())


def test_ignored_targets_have_no_share_in_the_mean():
    x, labels = tensors(X, LABELS)
    made = F.cross_entropy(x, labels, ignore_index=2)
    assert made.item() == pytest.approx(-(LOG[0, 0] + LOG[2, 1]) / 2)
    assert F.cross_entropy(x, labels * 0 + 2, ignore_index=2).isnan()
    assert F.cross_entropy(x, labels * 0 + 2, ignore_index=2, reduction="sum").item() == 0


def test_logarithms_end_at_minus_a_hundred():
    x = taeda.tensor([0.0, 1.0])
    assert F.binary_cross_entropy(x, 1 - x, reduction="none").tolist() == [100, 100]
    assert F.binary_cross_entropy(x, x).item() == 0


def test_large_logits_do_not_overflow():
    x = taeda.tensor([1000.0, -1000.0])
    made = F.binary_cross_entropy_with_logits(x, taeda.tensor([0.0, 1.0]), reduction="none")
    assert made.tolist() == [1000, 1000]
    assert F.cross_entropy(x, taeda.tensor(1)).item() == 2000


def test_labels_before_the_first_minus_one():
    x = taeda.tensor([0.1, 0.2, 0.4, 0.8])
    made = F.multilabel_margin_loss(x, taeda.tensor([3, 0, -1, 1]))
    wanted = sum(max(0, 1 - (a - b)) for a in (0.8, 0.1) for b in (0.2, 0.4)) / 4
    assert made.item() == pytest.approx(wanted)
    assert F.multilabel_margin_loss(x, taeda.tensor([-1, 0, 1, 2])).item() == 0


def test_a_batch_of_nothing():
    x, labels = taeda.ones(0, 3), taeda.ones(0).long()
    assert F.cross_entropy(x, labels, reduction="sum").item() == 0
    assert math.isnan(F.cross_entropy(x, labels).item())
    assert F.multi_margin_loss(x, labels, reduction="none").shape == (0,)


ONES, ZERO = taeda.ones(4, 3), taeda.zeros(4).long()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.nll_loss(ONES, ZERO[:2]), ValueError, "[24]"),
        (lambda: F.nll_loss(ONES, ZERO + 3), IndexError, "3"),
        (lambda: F.nll_loss(ONES, ZERO, reduction="most"), ValueError, "most is not a valid"),
        (lambda: F.binary_cross_entropy(ONES, ONES[:2]), ValueError, r"\[2, 3\].*\[4, 3\]"),
        (lambda: F.binary_cross_entropy(ONES + 1, ONES), RuntimeError, "between 0 and 1"),
        (lambda: F.binary_cross_entropy_with_logits(ONES, ONES[0]), ValueError, r"\[3\].*\[4, 3\]"),
        (lambda: F.multi_margin_loss(ONES, ZERO, p=3), ValueError, "p == 1 and p == 2 supported, got 3"),
        (lambda: F.multi_margin_loss(ONES, ZERO, weight=ONES), ValueError, "got 2 dimensions"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
