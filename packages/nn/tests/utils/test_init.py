"""Layers without first values."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn import utils


def test_skip_init():
    layer = utils.skip_init(nn.Linear, 2, 3, dtype=taeda.float64)
    assert layer.weight.shape == (3, 2)
    assert layer.weight.device.type == "cpu"
    assert layer.weight.dtype is taeda.float64
    with pytest.raises(RuntimeError, match="'device' arg"):
        utils.skip_init(nn.ReLU)
    with pytest.raises(RuntimeError, match="Expected a Module"):
        utils.skip_init(dict)
