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


@pytest.mark.parametrize("size", [1e-5, 1.0, 1_000.0, 30_000.0])
@pytest.mark.parametrize("dtype", [taeda.float16, taeda.bfloat16])
@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm"])
def test_weights_of_any_size_in_16_bits(name, dtype, size):
    """Both depend on the direction of the weight alone, whatever its square is."""
    taeda.manual_seed(2)
    weight, made = taeda.randn(3, 5).clamp(-2, 2), []
    for factor, kind in ((1.0, taeda.float64), (size, dtype)):
        layer = nn.Linear(5, 3, bias=False).to(kind)
        taeda.manual_seed(3)
        getattr(parametrizations, name)(layer)
        held = layer.parametrizations.weight
        with taeda.no_grad():
            if name == "weight_norm":
                held.original0.fill_(2)
                held.original1.copy_(weight * factor)
            else:
                held.original.copy_(weight * factor)
        for _ in range(40 if name == "spectral_norm" else 1):
            result = layer.weight
        made.append(result.detach().double())
    tiny = 0.1 if dtype is taeda.float16 and size == 1e-5 else 0.0  # few digits are left there
    rtol = max(tiny, 4 * taeda.finfo(dtype).eps)
    taeda.testing.assert_close(made[1], made[0], rtol=rtol, atol=rtol / 4)
