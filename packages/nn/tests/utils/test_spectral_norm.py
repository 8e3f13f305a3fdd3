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


def test_a_forward_pass_turns_v_before_u():
    layer = nn.utils.spectral_norm(nn.Linear(5, 3))
    weight, u = layer.weight_orig.detach().numpy(), layer.weight_u.numpy().copy()
    layer(taeda.ones(1, 5))
    v = weight.T @ u
    v /= np.linalg.norm(v)
    u = weight @ v
    np.testing.assert_allclose(layer.weight_v.numpy(), v, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(layer.weight_u.numpy(), u / np.linalg.norm(u), rtol=1e-5, atol=1e-6)


def test_the_metadata_of_a_state_dict_name_the_version():
    layer = nn.utils.spectral_norm(nn.Linear(2, 2))
    kept = layer.state_dict()._metadata
    assert kept[""] == {"version": 1, "spectral_norm": {"weight.version": 1}}
    nn.utils.remove_spectral_norm(layer)
    assert layer.state_dict()._metadata[""] == {"version": 1}
