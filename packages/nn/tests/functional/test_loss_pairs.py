"""Losses of pairs and triplets by definition: values, gradients, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import nn
from taeda.autograd import gradcheck
from taeda.nn import functional as F

RNG = np.random.default_rng(7)
A, B, C = RNG.normal(size=(3, 4, 3))
SIGN = np.where(RNG.normal(size=(4, 3)) > 0, 1.0, -1.0)
SIGNS = np.array([1.0, -1.0, -1.0, 1.0])


def apart(a, b, p=2):
    return (np.abs(a - b + 1e-6) ** p).sum(-1) ** (1 / p)


def cosine(a, b):
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


def cityblock(a, b):
    return (a - b).abs().sum(-1)


FAR = np.minimum(apart(A, C, 3), apart(B, C, 3))
CITY = np.abs(A - C).sum(-1), np.abs(B - C).sum(-1)
CASES = {
    "soft margin": (F.soft_margin_loss, (A, SIGN), np.log1p(np.exp(-SIGN * A))),
    "hinge": (lambda x, y, **o: F.hinge_embedding_loss(x, y, 0.7, **o), (A, SIGN),
        np.where(SIGN > 0, A, np.maximum(0, 0.7 - A))),
    "ranking": (lambda a, b, y, **o: F.margin_ranking_loss(a, b, y, 0.3, **o), (A, B, SIGN),
        np.maximum(0, -SIGN * (A - B) + 0.3)),
    "cosine": (lambda a, b, y, **o: F.cosine_embedding_loss(a, b, y, -0.2, **o), (A, B, SIGNS),
               np.where(SIGNS > 0, 1 - cosine(A, B), np.maximum(0, cosine(A, B) + 0.2))),
    "triplet": (lambda a, b, c, **o: F.triplet_margin_loss(a, b, c, 2.0, **o), (A, B, C),
                np.maximum(0, 2 + apart(A, B) - apart(A, C))),
    "swapped": (lambda a, b, c, **o: F.triplet_margin_loss(a, b, c, 2.0, 3, swap=True, **o), (A, B, C),
                np.maximum(0, 2 + apart(A, B, 3) - FAR)),
    "own "
    "distance": (lambda a, b, c, **o: F.triplet_margin_with_distance_loss(a, b, c,
        distance_function=cityblock, swap=True, **o),
                     (A, B, C), np.maximum(0, 1 + np.abs(A - B).sum(-1) - np.minimum(*CITY))),
    "own distance by "
    "default": (F.triplet_margin_with_distance_loss, (A, B, C), np.maximum(0, 1 + apart(A, B) - apart(A, C))),
}  # fmt: skip


def tensors(arrays):
    return [taeda.from_numpy(a.copy()) for a in arrays]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", CASES)
def test_values(name, reduction):
    function, given, wanted = CASES[name]
    made = function(*tensors(given), reduction=reduction)
    wanted = wanted if reduction == "none" else getattr(np, reduction)(wanted)
    np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, given, _ = CASES[name]
    count = 3 if "triplet" in name or "own" in name or name == "swapped" else len(given) - 1
    inputs = tensors(given)
    wanting = [x.requires_grad_() for x in inputs[:count]]
    assert gradcheck(lambda *them: function(*them, *inputs[count:], reduction="sum"), wanting)


def test_one_pair_without_a_batch():
    a, b = tensors((A[0], B[0]))
    made = F.cosine_embedding_loss(a, b, taeda.tensor(1.0))
    assert made.item() == pytest.approx(1 - cosine(A[0], B[0]))
    assert F.triplet_margin_loss(a, b, a).item() == pytest.approx(1 + apart(A[0], B[0]), rel=1e-5)


def test_pairs_of_nothing():
    x = taeda.ones(0, 3)
    assert F.triplet_margin_loss(x, x, x, reduction="sum").item() == 0
    assert F.soft_margin_loss(x, x, reduction="none").shape == (0, 3)


ONES = taeda.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: nn.functional.triplet_margin_loss(ONES, ONES, ONES, margin=0),
            ValueError,
            "got 0",
        ),
        (lambda: F.triplet_margin_with_distance_loss(ONES, ONES, ONES, margin=-2), ValueError,
            "greater than 0, got -2"),
        (lambda: F.triplet_margin_with_distance_loss(ONES, ONES[0], ONES), RuntimeError,
            "anchor 2D, positive 1D, and negative 2D"),
        (lambda: F.triplet_margin_loss(ONES, ONES, ONES[0]), RuntimeError, "1D"),
        (lambda: F.margin_ranking_loss(ONES, ONES[0], ONES), RuntimeError, "same dimension but got sizes"),
        (lambda: F.cosine_embedding_loss(ONES, ONES, ONES), RuntimeError, "1D|0D|0 or 1|target"),
        (lambda: F.soft_margin_loss(ONES, ONES, reduction="most"), ValueError, "most is not a valid"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
