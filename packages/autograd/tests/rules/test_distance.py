"""Derivatives of distances: of every order and mode, and where rows coincide."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda.autograd import forward_ad, gradcheck, gradgradcheck

MODE = "donot_use_mm_for_euclid_dist"


def draw(*shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return taeda.from_numpy(values).requires_grad_()


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, math.inf])
def test_cdist(p):
    def distance(x, y):
        return taeda.cdist(x, y, p, compute_mode=MODE)

    inputs = (draw(2, 3, 4), draw(2, 5, 4, seed=1))
    assert gradcheck(distance, inputs, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(distance, inputs)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_pdist(p):
    assert gradcheck(lambda x: taeda.nn.functional.pdist(x, p), (draw(4, 3),))


@pytest.mark.parametrize("mode", [MODE, "use_mm_for_euclid_dist"])
def test_euclidean_distance_by_either_way(mode):
    inputs = (draw(3, 4), draw(5, 4, seed=1))
    assert gradcheck(lambda x, y: taeda.cdist(x, y, compute_mode=mode), inputs)


@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
@pytest.mark.parametrize("again", [False, True])
def test_rows_that_coincide_are_not_pulled(p, again):
    x = taeda.ones(2, 3, requires_grad=True)
    far = taeda.cdist(x, x.detach(), p, compute_mode=MODE)
    (grad,) = taeda.autograd.grad(far.sum(), x, create_graph=again)
    assert grad.tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("again", [False, True])
def test_each_of_several_largest_differences_gets_all(again):
    x = taeda.tensor([[0.0, 0.0, 3.0]], requires_grad=True)
    far = taeda.cdist(x, taeda.tensor([[2.0, -2.0, 1.0]]), math.inf)
    (grad,) = taeda.autograd.grad(far.sum(), x, create_graph=again)
    assert grad.tolist() == [[-1.0, 1.0, 1.0]]


def test_a_gradient_has_a_tangent():
    """Forward over reverse: the kernel of the gradient has no derivative, so differences take its place."""
    x, y, v = draw(3, 4), draw(5, 4, seed=1).detach(), draw(3, 4, seed=2).detach()

    def gradient(x):
        return taeda.func.grad(lambda x: taeda.cdist(x, y, 3.0).square().sum())(x)

    _, tangent = taeda.func.jvp(gradient, (x.detach(),), (v,))
    h = 1e-6
    near = (gradient(x.detach() + h * v) - gradient(x.detach() - h * v)) / (2 * h)
    np.testing.assert_allclose(tangent.numpy(), near.numpy(), rtol=1e-6, atol=1e-6)
    with forward_ad.dual_level():
        far = taeda.cdist(forward_ad.make_dual(x.detach(), v), y, 1.0)
        assert forward_ad.unpack_dual(far).tangent is not None
