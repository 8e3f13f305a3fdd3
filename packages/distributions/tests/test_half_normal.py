"""The normal distribution folded at 0."""

from laws import Continuous
from scipy import stats

from taeda import distributions as D


class TestHalfNormal(Continuous):
    ours = D.HalfNormal
    grid = ((2.0,), (1e-6,), (1e6,))
    refused = ((-1.0,), (0.0,))
    outside = (-0.5,)

    @staticmethod
    def theirs(scale):
        return stats.halfnorm(scale=scale)
