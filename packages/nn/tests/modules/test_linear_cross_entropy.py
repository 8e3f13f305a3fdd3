"""A linear layer and the cross entropy of its outputs, as one module."""

from __future__ import annotations

import taeda
from taeda import nn


def test_module():
    layer = nn.LinearCrossEntropyLoss(3, 4, out_features=(2,), bias=True)
    assert {n: tuple(p.shape) for n, p in layer.state_dict().items()} == {
        "linear.weight": (8, 3),
        "linear.bias": (8,),
    }
    assert layer(taeda.ones(5, 3), taeda.zeros(5, 2, dtype=taeda.int64)).shape == ()
    assert repr(nn.LinearCrossEntropyLoss(5, 4)).splitlines()[1] == (
        "  in_features=5, num_classes=4, out_features=(), bias=False, reduction=mean, "
        "ignore_index=None, label_smoothing=0.0, options=None"
    )
