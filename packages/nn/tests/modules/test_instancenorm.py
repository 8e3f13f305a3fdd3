"""Normalisation of each instance."""

from __future__ import annotations

import numpy as np
import pytest
from layer_references import check_layer, close, normalised

import taeda
from taeda import nn
from taeda.nn import functional as F

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("InstanceNorm2d(4)", ("4, eps=1e-05, momentum=0.1, affine=False, bias=False, "
                          "track_running_stats=False"), (3, 4, 5, 5), F.instance_norm),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.InstanceNorm1d(3)(taeda.randn(1, 3, 1)), "more than 1 spatial element"),
        (
            lambda: nn.InstanceNorm2d(3, affine=True)(taeda.randn(2, 4, 3, 3)),
            r"num_features \(3\), but got: 4",
        ),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()


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
