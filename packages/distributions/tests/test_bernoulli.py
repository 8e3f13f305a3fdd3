"""The Bernoulli distribution."""

from laws import Counts, t
from scipy import stats

from taeda import distributions as D


class TestBernoulli(Counts):
    ours, theirs = D.Bernoulli, staticmethod(stats.bernoulli)
    grid = ((0.3,), (1e-6,), (0.999,))
    refused = ((-0.1,), (1.1,), (float("nan"),))
    outside = (0.5, -1.0, 2.0)
    lacks = ("cdf", "icdf", "rsample")


def test_the_mode_of_a_fair_coin_is_nan():
    assert D.Bernoulli(t(0.5)).mode.isnan()
    assert D.Bernoulli(t(0.4, 0.6)).mode.tolist() == [0, 1]


def test_sure_things():
    ours = D.Bernoulli(t(0.0, 1.0))
    assert ours.sample((50,)).mean(0).tolist() == [0, 1]
    assert ours.log_prob(t(0.0, 1.0)).abs().max() < 1e-6
    assert ours.entropy().abs().max() < 1e-6
