"""The Weibull distribution."""

from laws import Continuous
from scipy import stats

from taeda import distributions as D


class TestWeibull(Continuous):
    ours = D.Weibull
    grid = ((2.0, 1.5), (1e-3, 1.0), (100.0, 0.4), (5.0, 20.0))
    refused = ((-1.0, 1.0), (1.0, 0.0))
    outside = (-0.5,)

    @staticmethod
    def theirs(scale, concentration):
        return stats.weibull_min(concentration, scale=scale)
