"""The Cauchy distribution, which has no moments."""

from laws import Continuous
from scipy import stats

import taeda
from taeda import distributions as D


class TestCauchy(Continuous):
    ours, theirs = D.Cauchy, staticmethod(stats.cauchy)
    grid = ((0.5, 2.0), (0.0, 1e-6), (-20.0, 1e6))
    refused = ((0.0, -1.0), (0.0, 0.0))

    def test_moments(self, params):
        ours = self.made(params)
        assert ours.mean.isnan()
        assert ours.variance.item() == ours.stddev.item() == float("inf")


def test_moments_of_a_batch():
    assert D.Cauchy(taeda.zeros(3), 1.0).mean.isnan().tolist() == [True] * 3
