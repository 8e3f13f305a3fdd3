"""Normalisation of batches."""

from __future__ import annotations

import numpy as np
import pytest
from layer_references import close, normalised

import taeda
from taeda import nn


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (nn.BatchNorm1d, (8, 3)),
        (nn.BatchNorm1d, (4, 3, 5)),
        (nn.BatchNorm2d, (4, 3, 2, 5)),
        (nn.BatchNorm3d, (2, 3, 2, 3, 2)),
        (nn.SyncBatchNorm, (4, 3, 5)),
    ],
)
def test_batch_norm_in_training_and_after(kind, shape):
    layer = kind(3)
    x = taeda.randn(shape) * 2 + 1
    array = x.numpy()
    axes = tuple(i for i in range(array.ndim) if i != 1)
    close(layer(x), normalised(array, axes))
    count = array.size // 3
    close(layer.running_mean, 0.1 * array.mean(axes))
    close(layer.running_var, 0.9 + 0.1 * array.var(axes) * count / (count - 1))
    assert layer.num_batches_tracked.item() == 1
    layer.eval()
    shaped = [-1 if i == 1 else 1 for i in range(array.ndim)]
    mean = layer.running_mean.numpy().reshape(shaped)
    var = layer.running_var.numpy().reshape(shaped)
    close(layer(x), (array - mean) / np.sqrt(var + 1e-5))
    assert layer.num_batches_tracked.item() == 1


def test_batch_norm_without_momentum_averages_all_batches():
    layer = nn.BatchNorm1d(2, momentum=None)
    batches = [taeda.randn(6, 2) for _ in range(3)]
    for batch in batches:
        layer(batch)
    close(layer.running_mean, np.mean([b.numpy().mean(0) for b in batches], 0))


def test_batch_norm_without_statistics_uses_the_batch_always():
    layer = nn.BatchNorm1d(2, track_running_stats=False).eval()
    x = taeda.randn(6, 2)
    close(layer(x), normalised(x.numpy(), (0,)))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.BatchNorm2d(3)(taeda.randn(2, 3, 4)), r"expected 4D input \(got 3D input\)"),
        (lambda: nn.BatchNorm1d(3)(taeda.randn(3)), r"expected 2D or 3D input \(got 1D input\)"),
        (lambda: nn.SyncBatchNorm(3)(taeda.randn(3)), "expected at least 2D input"),
        (lambda: nn.BatchNorm1d(3)(taeda.randn(1, 3)), r"more than 1 value per channel.*\[1, 3\]"),
        (lambda: nn.BatchNorm1d(3, eps=0.0)(taeda.randn(2, 3)), "eps must be positive"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_wrong_channels_have_the_numbers():
    with pytest.raises(RuntimeError, match=r"[34]"):
        nn.BatchNorm2d(4)(taeda.randn(2, 3, 4, 4))


def test_convert_sync_batchnorm_keeps_the_tensors():
    inner = nn.BatchNorm2d(3)
    net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Conv2d(3, 3, 1), inner))
    assert type(net[1]) is nn.SyncBatchNorm
    assert net[1].weight is inner.weight
    assert net[1].running_mean is inner.running_mean
