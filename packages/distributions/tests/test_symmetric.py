"""What the distributions that are symmetric around `loc` share."""

import numpy as np
import pytest
from laws import t

import taeda
from taeda import distributions as D

KINDS = [D.Normal, D.Laplace, D.Cauchy]


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_broadcast_and_are_checked(kind):
    ours = kind(t(0.0, 1.0), 2.0)
    assert (ours.batch_shape, ours.event_shape) == ((2,), ())
    assert (ours.loc.tolist(), ours.scale.tolist()) == ([0.0, 1.0], [2.0, 2.0])
    assert ours.expand((3, 2)).scale.shape == (3, 2)
    for loc, scale in ((0.0, 0.0), (0.0, -1.0), (float("nan"), 1.0)):
        with pytest.raises(ValueError, match="to satisfy the constraint"):
            kind(loc, scale)


@pytest.mark.parametrize("kind", KINDS)
def test_both_sides_of_the_centre_are_alike(kind):
    ours, far = kind(t(1.5), t(0.5)), t(0.1, 1.0, 5.0)
    left, right = ours.log_prob(1.5 - far), ours.log_prob(1.5 + far)
    np.testing.assert_allclose(left.numpy(), right.numpy(), 1e-12)
    total = ours.cdf(1.5 - far) + ours.cdf(1.5 + far)
    np.testing.assert_allclose(total.numpy(), np.ones(3), 1e-12)
    assert (ours.mode.item(), ours.icdf(t(0.5)).item()) == (1.5, 1.5)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_carry_gradients_to_both_parameters(kind):
    taeda.manual_seed(0)
    loc, scale = t(1.0).requires_grad_(), t(2.0).requires_grad_()
    sample = kind(loc, scale).rsample((4,))
    sample.sum().backward()
    assert loc.grad.item() == 4
    np.testing.assert_allclose(scale.grad.item(), ((sample - 1) / 2).sum().item(), 1e-9)
