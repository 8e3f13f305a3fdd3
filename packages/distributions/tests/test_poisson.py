"""The Poisson distribution."""

import pytest
from laws import Counts, t
from scipy import stats

from taeda import distributions as D


class TestPoisson(Counts):
    ours, theirs = D.Poisson, staticmethod(stats.poisson)
    grid = ((4.0,), (0.01,), (300.0,))
    refused = ((-1.0,),)
    outside = (0.5, -1.0)
    lacks = ("cdf", "icdf", "rsample", "enumerate_support")

    def test_entropy(self, params):
        """Through the exponential family, whose carrier measure it does not say."""
        with pytest.raises(NotImplementedError, match="carrier measure"):
            self.made(params).entropy()


def test_nothing_happens_at_the_rate_0():
    ours = D.Poisson(t(0.0))
    assert ours.log_prob(t(0.0)).item() == 0
    assert ours.sample((20,)).max().item() == 0
