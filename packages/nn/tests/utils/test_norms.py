"""The arithmetic of weight and spectral normalisation."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import nn
from taeda.autograd import gradcheck
from taeda.nn.utils import _norms


def weight(*shape):
    taeda.manual_seed(0)
    return taeda.randn(shape, dtype=taeda.float64)


@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        (s, d)
        for s in [(4,), (3, 4), (2, 3, 4)]
        for d in [0, 1, -2, -1, None]
        if d in (0, -1, None) or len(s) > 1
    ],
)
def test_norms_over_all_dimensions_but_one(shape, dim):
    x = weight(*shape)
    if dim in (None, -1):
        wanted = np.linalg.norm(x.numpy())
    else:
        axes = tuple(i for i in range(len(shape)) if i != dim % len(shape))
        wanted = np.sqrt((x.numpy() ** 2).sum(axes, keepdims=True))
    np.testing.assert_allclose(_norms.norm_except(x, dim).numpy(), wanted)


@pytest.mark.parametrize("dim", [0, 1, None])
def test_direction_and_length_make_the_weight(dim):
    x = weight(3, 4)
    assert taeda.allclose(_norms.weighted(*_norms.direction_and_length(x, dim), dim), x)
    direction, length = _norms.direction_and_length(x, dim)
    assert taeda.allclose(_norms.weighted(direction * 7, length, dim), x)
    assert gradcheck(
        lambda v, g: _norms.weighted(v, g, dim),
        (direction.requires_grad_(), length.detach().requires_grad_()),
    )


@pytest.mark.parametrize(
    ("module", "dim"),
    [
        (nn.Linear(2, 3), 0),
        (nn.Conv2d(2, 3, 1), 0),
        (nn.ConvTranspose1d(2, 3, 1), 1),
        (nn.ConvTranspose3d(2, 3, 1), 1),
    ],
)
def test_the_dimension_of_the_outputs(module, dim):
    assert _norms.default_dim(module) == dim


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_a_weight_as_matrix(dim):
    x = weight(2, 3, 4)
    made = _norms.as_matrix(x, dim)
    np.testing.assert_array_equal(
        made.numpy(), np.moveaxis(x.numpy(), dim, 0).reshape(x.shape[dim], -1)
    )


def test_power_steps_find_the_largest_singular_value():
    matrix = weight(5, 3).requires_grad_()
    u, v = weight(5), weight(3)
    before = u.data_ptr()
    _norms.power_step(matrix, u, v, 200, 1e-12)
    assert u.data_ptr() == before and not u.requires_grad
    left, values, right = np.linalg.svd(matrix.detach().numpy())
    assert (u @ matrix.detach() @ v).item() == pytest.approx(values[0])
    np.testing.assert_allclose(abs(u.numpy() @ left[:, 0]), 1)
    np.testing.assert_allclose(abs(v.numpy() @ right[0]), 1)
