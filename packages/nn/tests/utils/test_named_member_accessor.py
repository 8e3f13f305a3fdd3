"""Tensors of a module exchanged by name."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.utils._named_member_accessor import swap_tensor


def test_parameters_buffers_and_attributes():
    layer = nn.BatchNorm1d(2)
    layer.extra = None
    weight, mean = layer.weight, layer.running_mean
    scaled = weight * 2
    assert swap_tensor(layer, "weight", scaled) is weight and layer.weight is scaled
    assert swap_tensor(layer, "running_mean", None) is mean and layer.running_mean is None
    assert swap_tensor(layer, "extra", mean) is None and layer.extra is mean
    assert swap_tensor(layer, "later", mean, allow_missing=True) is None and layer.later is mean
    assert dict(layer.named_parameters())["weight"] is scaled


def test_refusals():
    layer = nn.Linear(1, 1)
    with pytest.raises(TypeError, match="wanted a module, got int"):
        swap_tensor(3, "weight", None)
    with pytest.raises(TypeError, match="wanted a tensor or None, got float"):
        swap_tensor(layer, "weight", 1.0)
    with pytest.raises(TypeError, match="'in_features' is no tensor, but int"):
        swap_tensor(layer, "in_features", None)
    with pytest.raises(AttributeError, match="Linear has no attribute 'wight'"):
        swap_tensor(layer, "wight", None)
    for name in ("", "a.weight"):
        with pytest.raises(KeyError, match="without a dot"):
            swap_tensor(layer, name, taeda.ones(1))
