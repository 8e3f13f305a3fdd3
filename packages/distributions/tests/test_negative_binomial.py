"""The negative binomial distribution."""

from laws import Counts
from scipy import stats

from taeda import distributions as D


class TestNegativeBinomial(Counts):
    ours = D.NegativeBinomial
    grid = ((3.0, 0.6), (0.5, 0.3), (50.0, 0.1))
    refused = ((-1.0, 0.5), (3.0, -0.1), (3.0, 1.0))
    outside = (0.5, -1.0)
    lacks = ("cdf", "icdf", "rsample", "enumerate_support", "entropy")

    @staticmethod
    def theirs(total_count, probs):
        return stats.nbinom(total_count, 1 - probs)
