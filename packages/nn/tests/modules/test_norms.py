"""Batch, instance, layer and group normalisation."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import nn


def normalised(x, axes, eps=1e-5):
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps)


def close(result, expected, atol=1e-5):
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-4, atol=atol)


# ---- batch ----


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
        (lambda: nn.InstanceNorm1d(3)(taeda.randn(1, 3, 1)), "more than 1 spatial element"),
        (
            lambda: nn.InstanceNorm2d(3, affine=True)(taeda.randn(2, 4, 3, 3)),
            r"num_features \(3\), but got: 4",
        ),
        (lambda: nn.GroupNorm(3, 3)(taeda.randn(1, 3)), "more than 1 value per channel"),
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


# ---- instance ----


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (nn.InstanceNorm1d, (2, 3, 5)),
        (nn.InstanceNorm2d, (2, 3, 4, 5)),
        (nn.InstanceNorm3d, (2, 3, 2, 3, 4)),
    ],
)
def test_instance_norm(kind, shape):
    x = taeda.randn(shape)
    layer = kind(3, affine=True)
    close(layer(x), normalised(x.numpy(), tuple(range(2, len(shape)))))
    close(layer(x[0]), layer(x)[0].detach().numpy())


def test_instance_norm_with_statistics():
    layer = nn.InstanceNorm1d(3, track_running_stats=True)
    x = taeda.randn(2, 3, 5)
    layer(x)
    close(layer.running_mean, 0.1 * x.numpy().mean(2).mean(0))
    layer.eval()
    mean, var = layer.running_mean.numpy()[:, None], layer.running_var.numpy()[:, None]
    close(layer(x), (x.numpy() - mean) / np.sqrt(var + 1e-5))


def test_instance_norm_warns_of_other_channels():
    with pytest.warns(UserWarning, match="does not match num_features"):
        nn.InstanceNorm2d(3)(taeda.randn(2, 4, 3, 3))


def test_old_checkpoints_with_statistics_are_explained():
    layer = nn.InstanceNorm1d(3)
    with pytest.raises(RuntimeError, match="track_running_stats=False"):
        layer.load_state_dict({"running_mean": taeda.zeros(3), "running_var": taeda.ones(3)})


# ---- layers and groups ----


def test_layer_norm():
    layer = nn.LayerNorm((3, 4))
    with taeda.no_grad():
        layer.weight.uniform_(0, 1)
        layer.bias.uniform_(0, 1)
    x = taeda.randn(2, 3, 4)
    expected = normalised(x.numpy(), (1, 2)) * layer.weight.detach().numpy()
    close(layer(x), expected + layer.bias.detach().numpy())
    with pytest.raises(RuntimeError, match=r"\[3, 4\]"):
        layer(taeda.randn(2, 4, 3))


def test_rms_norm():
    x = taeda.randn(2, 5)
    array = x.numpy()
    expected = array / np.sqrt((array**2).mean(1, keepdims=True) + np.finfo(np.float32).eps)
    close(nn.RMSNorm(5)(x), expected)
    assert nn.RMSNorm(5, elementwise_affine=False).weight is None


def test_group_norm():
    x = taeda.randn(2, 6, 5)
    grouped = normalised(x.numpy().reshape(2, 3, -1), (2,)).reshape(2, 6, 5)
    close(nn.GroupNorm(3, 6)(x), grouped)
    with pytest.raises(RuntimeError, match="num_groups"):
        nn.functional.group_norm(taeda.randn(2, 5), 3)


def test_local_response_norm():
    x = taeda.randn(1, 5, 2)
    array = x.numpy()
    expected = np.empty_like(array)
    for c in range(5):
        window = array[:, max(0, c - 1) : c + 2]
        total = (window**2).sum(1) / 3
        expected[:, c] = array[:, c] / (1.0 + 0.5 * total) ** 0.75
    close(nn.LocalResponseNorm(3, alpha=0.5)(x), expected)


def test_no_groups_are_refused():
    with pytest.raises(
        ValueError, match=r"num_channels \(4\) must be divisible by num_groups \(0\)"
    ):
        nn.GroupNorm(0, 4)
