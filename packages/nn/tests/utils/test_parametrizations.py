"""Ready-made parametrizations: weight norm and spectral norm."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import nn
from taeda.nn.utils import parametrizations


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_separates_length_and_direction(dim):
    layer = nn.Linear(3, 2)
    before = layer.weight.detach().clone()
    parametrizations.weight_norm(layer, dim=dim)
    assert taeda.allclose(layer.weight, before, atol=1e-6)
    length = layer.parametrizations.weight.original0
    assert length.shape == {0: (2, 1), 1: (1, 3), None: ()}[dim]
    with taeda.no_grad():
        length.mul_(2)
    assert taeda.allclose(layer.weight, before * 2, atol=1e-6)


def test_weight_norm_reads_old_checkpoints():
    old, new = nn.Linear(3, 2), parametrizations.weight_norm(nn.Linear(3, 2))
    with pytest.warns(FutureWarning):
        nn.utils.weight_norm(old)
    new.load_state_dict(old.state_dict())
    x = taeda.randn(4, 3)
    assert taeda.allclose(new(x), old(x), atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [lambda: nn.Linear(5, 3), lambda: nn.Conv2d(3, 4, 3), lambda: nn.ConvTranspose2d(4, 3, 3)],
)
def test_spectral_norm_makes_the_largest_singular_value_one(make):
    taeda.manual_seed(0)
    layer = parametrizations.spectral_norm(make(), n_power_iterations=20)
    for _ in range(3):
        weight = layer.weight
    dim = 1 if isinstance(layer, nn.ConvTranspose2d) else 0
    matrix = weight.detach().transpose(0, dim).reshape(weight.shape[dim], -1).numpy()
    assert np.linalg.svd(matrix, compute_uv=False)[0] == pytest.approx(1, abs=1e-3)
    layer.eval()
    assert taeda.equal(layer.weight, layer.weight)


def test_spectral_norm_refuses():
    with pytest.raises(ValueError, match="no parameter or buffer with name 'nothing'"):
        parametrizations.spectral_norm(nn.Linear(2, 2), "nothing")
    with pytest.raises(ValueError, match="n_power_iterations=0"):
        parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
