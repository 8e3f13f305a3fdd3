"""The Cauchy distribution folded at 0."""

from laws import Continuous
from scipy import stats

from taeda import distributions as D


class TestHalfCauchy(Continuous):
    ours = D.HalfCauchy
    grid = ((2.0,), (1e-6,), (1e6,))
    refused = ((-1.0,), (0.0,))
    outside = (-0.5,)

    @staticmethod
    def theirs(scale):
        return stats.halfcauchy(scale=scale)

    def test_moments(self, params):
        ours = self.made(params)
        assert ours.mean.item() == ours.variance.item() == float("inf")
