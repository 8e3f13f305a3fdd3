"""Distances and similarities as layers."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import nn
from taeda.autograd import gradcheck


def pairs(*shape):
    taeda.manual_seed(0)
    return taeda.randn(shape, dtype=taeda.float64), taeda.randn(shape, dtype=taeda.float64)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("p", [1.0, 2.0, 3.5])
@pytest.mark.parametrize("shape", [(3,), (4, 3), (0, 3)])
def test_distance(shape, p, keepdim):
    a, b = pairs(*shape)
    layer = nn.PairwiseDistance(p, eps=1e-3, keepdim=keepdim)
    gap = np.abs(a.numpy() - b.numpy() + 1e-3)
    wanted = (gap**p).sum(-1, keepdims=keepdim) ** (1 / p)
    made = layer(a, b)
    assert made.shape == wanted.shape
    np.testing.assert_allclose(made.numpy(), wanted)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_similarity(dim):
    a, b = pairs(4, 3)
    x, y = a.numpy(), b.numpy()
    norms = np.linalg.norm(x, axis=dim) * np.linalg.norm(y, axis=dim)
    made = nn.CosineSimilarity(dim)(a, b)
    np.testing.assert_allclose(made.numpy(), (x * y).sum(dim) / norms)
    assert nn.CosineSimilarity(dim)(a.t().contiguous().t(), b).equal(made)


def test_similarity_of_nothing_is_held_by_eps():
    zero, one = taeda.zeros(1, 2), taeda.ones(1, 2)
    assert nn.CosineSimilarity()(zero, one).item() == 0
    small = taeda.full((1, 2), 1e-3)
    assert nn.CosineSimilarity(eps=1.0)(small, one).item() == pytest.approx(2e-3 / 2**0.5, rel=1e-5)


@pytest.mark.parametrize("layer", [nn.PairwiseDistance(), nn.CosineSimilarity()])
def test_gradients(layer):
    assert gradcheck(layer, [t.requires_grad_() for t in pairs(4, 3)])


def test_sizes_that_do_not_broadcast_are_refused():
    for layer in (nn.PairwiseDistance(), nn.CosineSimilarity()):
        with pytest.raises(RuntimeError, match=r"3.*4|4.*3"):
            layer(taeda.ones(2, 3), taeda.ones(2, 4))
