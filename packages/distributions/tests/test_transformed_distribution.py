"""A distribution seen through transforms."""

import numpy as np
import pytest
from laws import follow, t
from scipy import stats

import taeda
from taeda import distributions as D


def shifted():
    return D.TransformedDistribution(D.Gamma(t(2.0), t(1.0)), D.AffineTransform(1.0, 3.0))


def test_samples_have_the_exact_law():
    follow(shifted(), {"value": (np.ravel, stats.gamma(2.0, loc=1.0, scale=3.0))})


def test_density_and_share():
    x = np.array([1.5, 4.0, 30.0])
    law = stats.gamma(2.0, loc=1.0, scale=3.0)
    np.testing.assert_allclose(shifted().log_prob(t(x)).numpy(), law.logpdf(x), 1e-9)
    np.testing.assert_allclose(shifted().cdf(t(x)).numpy(), law.cdf(x), 1e-9)


def test_a_falling_map_turns_shares_around():
    ours = D.TransformedDistribution(D.Exponential(t(2.0)), [D.AffineTransform(0.0, -1.0)])
    law = stats.expon(scale=0.5)
    x = np.array([0.1, 1.0, 2.0])
    np.testing.assert_allclose(ours.cdf(t(-x)).numpy(), law.sf(x), 1e-9)
    np.testing.assert_allclose(ours.icdf(t(law.sf(x))).numpy(), -x, 1e-9)


def test_maps_of_vectors_take_a_batch_for_an_event():
    ours = D.TransformedDistribution(
        D.Normal(taeda.zeros(4, 2, dtype=taeda.float64), 1.0), D.StickBreakingTransform()
    )
    assert (ours.batch_shape, ours.event_shape) == ((4,), (3,))
    x = ours.sample((5,))
    assert ours.support.check(x).all()
    assert ours.log_prob(x).shape == (5, 4)
    assert ours.expand((2, 4)).sample().shape == (2, 4, 3)


def test_gradients_pass_through():
    loc = t(0.3).requires_grad_()
    taeda.manual_seed(1)
    x = D.TransformedDistribution(D.Normal(loc, 1.0), [D.ExpTransform()]).rsample()
    x.backward()
    assert loc.grad.item() == pytest.approx(x.item())


def test_no_transform_changes_nothing():
    ours = D.TransformedDistribution(D.Normal(t(0.0), 1.0), [])
    assert ours.log_prob(t(0.5)).item() == D.Normal(t(0.0), 1.0).log_prob(t(0.5)).item()
    assert ours.support is D.Normal.support


def test_refusals():
    with pytest.raises(ValueError, match="must be a Transform or list"):
        D.TransformedDistribution(D.Normal(0.0, 1.0), "exp")
    with pytest.raises(ValueError, match="size at least 1"):
        D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform())
    with pytest.raises(ValueError, match="within the support"):
        D.TransformedDistribution(D.Normal(t(0.0), 1.0), D.ExpTransform()).log_prob(t(-1.0))
