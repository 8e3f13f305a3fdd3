"""The continuous Bernoulli distribution."""

import numpy as np
import pytest
from laws import Continuous, t
from scipy import stats

import taeda
from taeda import distributions as D


class Law(stats.rv_continuous):
    """The exponential distribution cut at 0 and 1, tilted to either side."""

    def _tilt(self, p):
        return np.log(p) - np.log1p(-p)

    def _cdf(self, x, p):
        return np.expm1(self._tilt(p) * x) / np.expm1(self._tilt(p))

    def _ppf(self, q, p):
        return np.log1p(q * np.expm1(self._tilt(p))) / self._tilt(p)

    def _isf(self, q, p):
        return self._ppf(1 - q, p)

    def _pdf(self, x, p):
        return np.exp(self._tilt(p) * x) * self._tilt(p) / np.expm1(self._tilt(p))


class TestContinuousBernoulli(Continuous):
    ours, theirs = D.ContinuousBernoulli, staticmethod(Law(a=0, b=1))
    grid = ((0.2,), (0.7,), (0.01,), (0.49,))
    refused = ((-0.1,), (1.1,))
    outside = (-0.5, 1.5)
    lacks = ("mode",)
    rtol = 1e-7


@pytest.mark.parametrize("p", [0.02, 0.3, 0.4995, 0.5, 0.7])
def test_continuous_bernoulli_by_quadrature(p):
    ours = D.ContinuousBernoulli(t(p))
    x = np.linspace(0, 1, 20001)
    density = ours.log_prob(taeda.tensor(x)).exp().numpy()
    mean = np.trapezoid(density * x, x)
    assert np.trapezoid(density, x) == pytest.approx(1, rel=1e-6)
    assert ours.mean.item() == pytest.approx(mean, rel=1e-6)
    spread = np.trapezoid(density * (x - mean) ** 2, x)
    assert ours.variance.item() == pytest.approx(spread, rel=1e-5)
    entropy = -np.trapezoid(density * np.log(density), x)
    assert ours.entropy().item() == pytest.approx(entropy, abs=1e-6)
    places = taeda.tensor([0.05, 0.2, 0.5, 0.9], dtype=taeda.float64)
    np.testing.assert_allclose(ours.cdf(ours.icdf(places)).numpy(), places.numpy(), rtol=1e-9)


def test_log_odds_give_the_same():
    one, other = D.ContinuousBernoulli(t(0.2)), D.ContinuousBernoulli(logits=t(0.2).logit())
    x = t(0.0, 0.3, 1.0)
    taeda.testing.assert_close(one.log_prob(x), other.log_prob(x))
    taeda.testing.assert_close(one.mean, other.mean)
    assert one.cdf(x)[::2].tolist() == [0, 1]
    with pytest.raises(ValueError, match="but not both"):
        D.ContinuousBernoulli(t(0.2), t(0.2))


@pytest.mark.parametrize("p", [0.49, 0.498, 0.4989, 0.503])
def test_moments_near_one_half(p):
    short = D.ContinuousBernoulli(taeda.tensor(p))
    exact = D.ContinuousBernoulli(short.probs.double())
    assert short.variance.item() == pytest.approx(exact.variance.item(), rel=1e-6)
    assert short.mean.item() == pytest.approx(exact.mean.item(), rel=1e-6)
