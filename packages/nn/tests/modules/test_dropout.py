"""Dropout in training: fractions, scales, channels."""

from __future__ import annotations

import math

import pytest
from layer_references import check_layer

import taeda
from taeda import nn


def test_a_fraction_is_zero_and_the_rest_is_scaled():
    taeda.manual_seed(0)
    y = nn.Dropout(0.25)(taeda.ones(10000))
    kept = (y != 0).float().mean().item()
    assert kept == pytest.approx(0.75, abs=0.02)
    assert y.max().item() == pytest.approx(1 / 0.75)


@pytest.mark.parametrize("kind", [nn.Dropout, nn.AlphaDropout])
def test_nothing_happens_in_evaluation(kind):
    x = taeda.randn(5)
    assert taeda.equal(kind(0.5).eval()(x), x)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (nn.Dropout1d, (20, 30, 7)),
        (nn.Dropout1d, (30, 7)),
        (nn.Dropout2d, (20, 30, 3, 3)),
        (nn.Dropout3d, (20, 30, 2, 2, 2)),
        (nn.Dropout3d, (30, 2, 2, 2)),
    ],
)
def test_whole_channels_are_zero(kind, shape):
    taeda.manual_seed(0)
    y = kind(0.5)(taeda.ones(shape))
    channels = y.flatten(2 if y.dim() > 3 or (kind is nn.Dropout1d and y.dim() == 3) else 1)
    spread = channels.amax(-1) - channels.amin(-1)
    assert spread.abs().max().item() == 0
    assert set(channels.amax(-1).flatten().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("kind", [nn.AlphaDropout, nn.FeatureAlphaDropout])
def test_alpha_dropout_keeps_mean_and_deviation(kind):
    taeda.manual_seed(0)
    x = taeda.randn(300, 400)
    y = kind(0.3)(x)
    assert y.mean().item() == pytest.approx(0, abs=0.02)
    assert y.std().item() == pytest.approx(1, abs=0.02)


def test_in_place():
    x = taeda.ones(1000)
    assert nn.Dropout(0.5, inplace=True)(x) is x
    assert 0 in x


def test_extremes():
    x = taeda.randn(50)
    assert taeda.equal(nn.Dropout(0.0)(x), x)
    assert nn.Dropout(1.0)(x).abs().max().item() == 0


def test_gradients_pass_where_elements_were_kept():
    taeda.manual_seed(0)
    x = taeda.ones(100, requires_grad=True)
    y = nn.Dropout(0.5)(x)
    y.sum().backward()
    assert taeda.equal(x.grad, y.detach())


def test_ranks():
    with pytest.raises(RuntimeError, match="Expected 2D or 3D input, but received a 1D"):
        nn.Dropout1d()(taeda.ones(3))
    with pytest.warns(UserWarning, match="channel-wise 1D dropout"):
        nn.Dropout2d()(taeda.ones(2, 3, 4))
    with pytest.warns(UserWarning, match="2-D input to dropout2d"):
        nn.Dropout2d()(taeda.ones(2, 3))
    with pytest.raises(ValueError, match="between 0 and 1, but got nan"):
        nn.functional.dropout(taeda.ones(1), math.nan)


# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("AlphaDropout(0.2)", "p=0.2, inplace=False", (3,), lambda x: x),
    ("Dropout(0.3, inplace=True)", "p=0.3, inplace=True", (3,), lambda x: x),
    ("Dropout2d()", "p=0.5, inplace=False", (1, 2, 3, 3), lambda x: x),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Dropout(1.5), ValueError, "between 0 and 1, but got 1.5"),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()
