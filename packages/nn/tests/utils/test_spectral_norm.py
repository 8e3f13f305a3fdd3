"""Spectral norm the older way, by a hook."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import nn


def test_spectral_norm_by_hook():
    layer = nn.utils.spectral_norm(nn.Linear(5, 3), n_power_iterations=50)
    layer(taeda.ones(1, 5))
    assert np.linalg.svd(layer.weight.detach().numpy(), compute_uv=False)[0] == pytest.approx(
        1, abs=1e-3
    )
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    nn.utils.remove_spectral_norm(layer)
    assert set(layer.state_dict()) == {"weight", "bias"}
