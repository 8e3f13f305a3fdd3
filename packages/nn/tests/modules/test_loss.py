"""Losses against formulas in numpy, with every reduction; weights, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import nn

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 4, 3)).astype("float32")
P, T = RNG.uniform(0.05, 0.95, size=(2, 4, 3)).astype("float32")
SIGN = np.sign(Y)
LABELS = np.array([0, 2, 1, 2])


def softplus(x):
    return np.logaddexp(0, x)


def log_softmax(x):
    return x - np.logaddexp.reduce(x, -1, keepdims=True)


def huber(gap, delta):
    return np.where(gap < delta, gap**2 / 2, delta * (gap - delta / 2))


def distance(a, b, p=2):
    return (np.abs(a - b + 1e-6) ** p).sum(-1) ** (1 / p)


def margins(x, labels, power=1):
    rows = np.maximum(0, 1 - x[range(4), labels][:, None] + x) ** power
    rows[range(4), labels] = 0
    return rows.sum(1) / 3


PICKED = -log_softmax(X)[range(4), LABELS]
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
    (nn.CrossEntropyLoss, {}, (X, LABELS), PICKED),
    (nn.CrossEntropyLoss, {"label_smoothing": 0.3}, (X, LABELS), 0.7 * PICKED - 0.3 * log_softmax(X).mean(1)),
    (nn.CrossEntropyLoss, {}, (X, P), -(log_softmax(X) * P).sum(1)),
    (nn.NLLLoss, {}, (log_softmax(X), LABELS), PICKED),
    (nn.BCELoss, {}, (P, T), -(T * np.log(P) + (1 - T) * np.log(1 - P))),
    (nn.BCEWithLogitsLoss, {}, (X, T), softplus(X) - T * X),
    (nn.MultiLabelSoftMarginLoss, {}, (X, T), (softplus(X) - T * X).mean(1)),
    (nn.MultiMarginLoss, {}, (X, LABELS), margins(X, LABELS)),
    (nn.MultiMarginLoss, {"p": 2}, (X, LABELS), margins(X, LABELS, 2)),
    (nn.SoftMarginLoss, {}, (X, SIGN), softplus(-SIGN * X)),
    (nn.HingeEmbeddingLoss, {}, (X, SIGN), np.where(SIGN > 0, X, np.maximum(0, 1 - X))),
    (nn.MarginRankingLoss, {"margin": 0.2}, (X, Y, SIGN), np.maximum(0, -SIGN * (X - Y) + 0.2)),
    (nn.TripletMarginLoss, {}, (X, Y, P), np.maximum(0, 1 + distance(X, Y) - distance(X, P))),
    (nn.TripletMarginLoss, {"swap": True, "p": 1}, (X, Y, P),
     np.maximum(0, 1 + distance(X, Y, 1) - np.minimum(distance(X, P, 1), distance(Y, P, 1)))),
    (nn.TripletMarginWithDistanceLoss, {"margin": 0.5}, (X, Y, P), np.maximum(0, 0.5 + distance(X, Y) - distance(X, P))),
]  # fmt: skip
IDS = [f"{case[0].__name__}-{case[1]}" for case in LOSSES]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(("kind", "options", "inputs", "expected"), LOSSES, ids=IDS)
def test_loss(kind, options, inputs, expected, reduction):
    loss = kind(reduction=reduction, **options)
    tensors = [taeda.from_numpy(np.ascontiguousarray(x)) for x in inputs]
    tensors[0].requires_grad_()
    result = loss(*tensors)
    wanted = expected if reduction == "none" else getattr(np, reduction)(expected)
    np.testing.assert_allclose(result.detach().numpy(), wanted, rtol=2e-4, atol=1e-5)
    result.sum().backward()
    assert tensors[0].grad.isfinite().all()


def test_cosine_embedding():
    cosine = (X * Y).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1)
    sign = np.array([1, -1, 1, -1])
    expected = np.where(sign == 1, 1 - cosine, np.maximum(0, cosine - 0.1))
    loss = nn.CosineEmbeddingLoss(0.1, reduction="none")
    result = loss(*map(taeda.from_numpy, (X, Y, sign)))
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)


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


def test_batchmean_divides_by_the_batch():
    x, y = taeda.from_numpy(X), taeda.from_numpy(P)
    total = nn.KLDivLoss(reduction="sum")(x, y)
    assert taeda.allclose(nn.KLDivLoss(reduction="batchmean")(x, y), total / 4)


def test_weighted_regression_averages_over_the_weights():
    x, y, w = map(taeda.from_numpy, (X, Y, P))
    result = nn.functional.mse_loss(x, y, weight=w).item()
    assert result == pytest.approx(((X - Y) ** 2 * P).sum() / P.sum(), rel=1e-5)


def test_flags_of_former_times():
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert nn.MSELoss(size_average=False).reduction == "sum"
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.MSELoss(reduce=False).reduction == "none"


ONES = taeda.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.MSELoss(reduction="most")(ONES, ONES), ValueError, "most is not a valid value"),
        (lambda: nn.BCELoss()(ONES, ONES[:, :1]), ValueError, r"\[4, 1\].*\[4, 3\]"),
        (lambda: nn.BCELoss()(ONES * 2, ONES), RuntimeError, "between 0 and 1"),
        (lambda: nn.BCEWithLogitsLoss()(ONES, ONES[:, :1]), ValueError, r"\[4, 1\].*\[4, 3\]"),
        (lambda: nn.CrossEntropyLoss()(ONES, taeda.zeros(2).long()), ValueError, "[24]"),
        (lambda: nn.CrossEntropyLoss()(ONES, taeda.tensor([0, 1, 2, 9])), IndexError, "9"),
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
        (
            lambda: nn.functional.triplet_margin_loss(ONES, ONES, ONES, margin=0),
            ValueError,
            "got 0",
        ),
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


def test_broadcasting_warns():
    with pytest.warns(UserWarning, match="different to the input size"):
        nn.MSELoss()(ONES, ONES[:, :1])
