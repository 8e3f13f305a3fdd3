"""Weight norm the older way, by a hook."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


def test_weight_norm_by_hook():
    layer, x = nn.Linear(3, 2), taeda.randn(4, 3)
    before = layer(x)
    with pytest.warns(FutureWarning, match="parametrizations"):
        nn.utils.weight_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight_g", "weight_v"]
    assert taeda.allclose(layer(x), before, atol=1e-6)
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="two weight_norm hooks"):
        nn.utils.weight_norm(layer)
    nn.utils.remove_weight_norm(layer)
    assert set(layer.state_dict()) == {"weight", "bias"}
    assert taeda.allclose(layer(x), before, atol=1e-6)
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        nn.utils.remove_weight_norm(layer)
