"""The adaptive softmax."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


@pytest.fixture
def layer():
    return nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10, 15], div_value=2.0)


def test_probabilities_sum_to_one(layer):
    log = layer.log_prob(taeda.randn(6, 16))
    assert log.shape == (6, 20)
    assert taeda.allclose(log.exp().sum(1), taeda.ones(6), atol=1e-5)


def test_outputs_are_those_of_log_prob(layer):
    x, target = taeda.randn(6, 16), taeda.tensor([0, 4, 7, 12, 19, 15])
    output, loss = layer(x, target)
    expected = layer.log_prob(x).gather(1, target.unsqueeze(1)).squeeze(1)
    assert taeda.allclose(output, expected, atol=1e-5)
    assert taeda.allclose(loss, -expected.mean(), atol=1e-5)
    single = layer(x[2], target[2])
    assert single.output.shape == ()
    assert taeda.allclose(single.output, expected[2], atol=1e-5)


def test_predictions(layer):
    x = taeda.randn(50, 16) * 5
    assert taeda.equal(layer.predict(x), layer.log_prob(x).argmax(1))


def test_sizes_shrink(layer):
    assert [cluster[0].out_features for cluster in layer.tail] == [8, 4, 2]
    assert layer.head.out_features == 5 + 3
    layer.reset_parameters()


@pytest.mark.parametrize("cutoffs", [[], [5, 3], [5, 5], [0, 5], [5, 20], [1.5]])
def test_refused_cutoffs(cutoffs):
    with pytest.raises(ValueError, match="cutoffs should be a sequence"):
        nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs)


def test_refused_targets(layer):
    x = taeda.randn(2, 16)
    with pytest.raises(RuntimeError, match=r"in \[0, 19\], but values in range \[1, 30\]"):
        layer(x, taeda.tensor([1, 30]))
    with pytest.raises(RuntimeError, match="same size in the batch"):
        layer(x, taeda.tensor([1]))
