"""Losses of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from loss_references import P, X, Y

import taeda
from taeda import nn
from taeda.autograd import gradcheck
from taeda.nn import functional as F


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


# ---- by definition ----

RNG = np.random.default_rng(6)
GIVEN, WANTED = RNG.normal(size=(2, 4, 3))
POSITIVE = RNG.uniform(0.2, 3, size=(4, 3))
GAP = np.abs(GIVEN - WANTED)


def huber(delta):
    return np.where(delta > GAP, GAP**2 / 2, delta * (GAP - delta / 2))


def stirling(y):
    return np.where(y > 1, y * np.log(y) - y + np.log(2 * np.pi * y) / 2, 0)


CASES = {
    "mse": (F.mse_loss, (GIVEN, WANTED), GAP**2),
    "l1": (F.l1_loss, (GIVEN, WANTED), GAP),
    "smooth": (lambda x, y, **o: F.smooth_l1_loss(x, y, beta=0.6, **o), (GIVEN, WANTED), huber(0.6) / 0.6),
    "huber": (lambda x, y, **o: F.huber_loss(x, y, delta=0.6, **o), (GIVEN, WANTED), huber(0.6)),
    "kl": (F.kl_div, (GIVEN, POSITIVE), POSITIVE * (np.log(POSITIVE) - GIVEN)),
    "kl of "
    "logarithms": (lambda x, y, **o: F.kl_div(x, y, log_target=True, **o), (GIVEN, WANTED),
        np.exp(WANTED) * (WANTED - GIVEN)),
    "poisson": (lambda x, y, **o: F.poisson_nll_loss(x, y, full=True, **o), (GIVEN, POSITIVE),
                np.exp(GIVEN) - POSITIVE * GIVEN + stirling(POSITIVE)),
    "poisson of "
    "rates": (lambda x, y, **o: F.poisson_nll_loss(x, y, log_input=False, **o), (POSITIVE, POSITIVE),
                         POSITIVE - POSITIVE * np.log(POSITIVE + 1e-8)),
    "gauss": (lambda x, y, v, **o: F.gaussian_nll_loss(x, y, v, full=True, **o), (GIVEN, WANTED, POSITIVE),
              (np.log(POSITIVE) + GAP**2 / POSITIVE + np.log(2 * np.pi)) / 2),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", CASES)
def test_values(name, reduction):
    function, given, wanted = CASES[name]
    made = function(*(taeda.from_numpy(a.copy()) for a in given), reduction=reduction)
    wanted = wanted if reduction == "none" else getattr(np, reduction)(wanted)
    np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, given, _ = CASES[name]
    inputs = tuple(taeda.from_numpy(a.copy()).requires_grad_() for a in given)
    assert gradcheck(lambda *them: function(*them, reduction="sum"), inputs)


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.huber_loss])
def test_weights(loss):
    x, y, w = (taeda.from_numpy(a.copy()) for a in (GIVEN, WANTED, POSITIVE))
    each = loss(x, y, reduction="none")
    assert taeda.allclose(loss(x, y, reduction="none", weight=w), each * w)
    assert taeda.allclose(loss(x, y, reduction="sum", weight=w), (each * w).sum())
    count = w.numel() if loss is F.huber_loss else w.sum()
    assert taeda.allclose(loss(x, y, weight=w), (each * w).sum() / count)


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.huber_loss, F.smooth_l1_loss])
def test_other_sizes_broadcast_with_a_warning(loss):
    x, y = taeda.ones(2, 3), taeda.zeros(3)
    with pytest.warns(UserWarning, match=r"target size .*\[3\].* input size .*\[2, 3\]"):
        made = loss(x, y, reduction="none")
    assert taeda.equal(made, loss(x, taeda.zeros(2, 3), reduction="none"))


def test_the_mean_over_the_batch_is_told_apart():
    x, y = (taeda.from_numpy(a.copy()) for a in (GIVEN, POSITIVE))
    total = F.kl_div(x, y, reduction="sum")
    assert taeda.allclose(F.kl_div(x, y, reduction="batchmean"), total / 4)
    with pytest.warns(UserWarning, match="divides the total loss by both"):
        assert taeda.allclose(F.kl_div(x, y), total / 12)
    assert F.kl_div(x[0, 0], y[0, 0], reduction="batchmean").shape == ()


@pytest.mark.parametrize("shape", [(4,), (4, 1), (1, 3)])
def test_variances_broadcast_along_one_dimension(shape):
    x, y = (taeda.from_numpy(a.copy()) for a in (GIVEN, WANTED))
    v = taeda.rand(shape, dtype=taeda.float64) + 0.5
    whole = (v.unsqueeze(-1) if len(shape) == 1 else v).expand(4, 3)
    assert taeda.allclose(F.gaussian_nll_loss(x, y, v), F.gaussian_nll_loss(x, y, whole))


def test_a_variance_may_be_a_number_and_counts_as_at_least_eps():
    x, y = (taeda.from_numpy(a.copy()) for a in (GIVEN, WANTED))
    made = F.gaussian_nll_loss(x, y, 0.0, eps=0.5, reduction="none")
    np.testing.assert_allclose(made.numpy(), (np.log(0.5) + GAP**2 / 0.5) / 2)
    with pytest.raises(ValueError, match="negative entry/entries: -1"):
        F.gaussian_nll_loss(x, y, -1)
    with pytest.raises(ValueError, match="most is not valid"):
        F.gaussian_nll_loss(x, y, 1.0, reduction="most")


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss])
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_sizes_that_do_not_broadcast_are_told_of_input_and_target(loss):
    with pytest.raises(
        RuntimeError, match=r"sizes 3 and 4 .* the shapes of input and target"
    ) as told:
        loss(taeda.ones(3), taeda.ones(4))
    assert "broadcast_shapes" not in str(told.value)
