"""The Pareto distribution."""

from laws import Continuous, t
from scipy import stats

from taeda import distributions as D


class TestPareto(Continuous):
    ours = D.Pareto
    grid = ((2.0, 3.0), (1e-3, 2.5), (100.0, 20.0))
    refused = ((-1.0, 1.0), (1.0, 0.0))
    outside = (1.5,)

    @staticmethod
    def theirs(scale, alpha):
        return stats.pareto(alpha, scale=scale)


def test_moments_that_do_not_exist():
    ours = D.Pareto(t(1.0), t(0.5, 1.5, 3.0))
    assert ours.mean.isinf().tolist() == [True, False, False]
    assert ours.variance.isinf().tolist() == [True, True, False]
