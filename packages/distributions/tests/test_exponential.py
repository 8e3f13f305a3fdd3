"""The exponential distribution."""

from laws import Continuous
from scipy import stats

from taeda import distributions as D


class TestExponential(Continuous):
    ours = D.Exponential
    grid = ((2.0,), (1e-6,), (1e6,))
    refused = ((-1.0,), (0.0,))
    outside = (-0.5,)

    @staticmethod
    def theirs(rate):
        return stats.expon(scale=1 / rate)
