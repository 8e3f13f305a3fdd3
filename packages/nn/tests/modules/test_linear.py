"""Linear, Bilinear and Identity."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda import nn


@pytest.mark.parametrize("shape", [(2,), (5, 2), (3, 4, 2), (0, 2)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear(shape, bias):
    layer, x = nn.Linear(2, 3, bias=bias), taeda.randn(shape)
    expected = x.numpy() @ layer.weight.detach().numpy().T
    if bias:
        expected = expected + layer.bias.detach().numpy()
    result = layer(x)
    assert result.shape == (*shape[:-1], 3)
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-5, atol=1e-6)


def test_linear_starts_within_the_bound():
    layer = nn.Linear(64, 200)
    for values in (layer.weight, layer.bias):
        largest = values.detach().abs().max().item()
        assert 0.9 / 8 < largest <= 1 / 8


def test_linear_gradients():
    layer = nn.Linear(2, 3)
    layer(taeda.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert layer.weight.grad.tolist() == [[4, 6]] * 3
    assert layer.bias.grad.tolist() == [2] * 3


def test_factory_arguments():
    layer = nn.Linear(2, 3, device="meta", dtype=taeda.float64)
    assert layer.weight.is_meta
    assert layer.bias.dtype is taeda.float64


def test_shape_errors_have_the_sizes():
    with pytest.raises(RuntimeError, match=r"5"):
        nn.Linear(2, 3)(taeda.ones(4, 5))


def test_bilinear():
    layer = nn.Bilinear(2, 3, 4)
    a, b = taeda.randn(5, 2), taeda.randn(5, 3)
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    expected = np.einsum("ni,kij,nj->nk", a.numpy(), weight, b.numpy()) + bias
    np.testing.assert_allclose(layer(a, b).detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    assert layer.weight.detach().abs().max().item() <= 1 / math.sqrt(2)
    with pytest.raises(ValueError, match="in1_features must be > 0, but got 0"):
        nn.Bilinear(0, 3, 4)


def test_identity_takes_any_arguments():
    x = taeda.ones(2)
    assert nn.Identity(1, 2, k=3)(x) is x
