"""The inverse gamma distribution."""

from laws import Continuous, t
from scipy import stats

from taeda import distributions as D


class TestInverseGamma(Continuous):
    ours = D.InverseGamma
    grid = ((3.0, 2.0), (2.2, 1e-3), (100.0, 50.0))
    refused = ((-1.0, 1.0), (1.0, 0.0))
    outside = (-0.5,)
    lacks = ("icdf",)

    @staticmethod
    def theirs(concentration, rate):
        return stats.invgamma(concentration, scale=rate)


def test_moments_that_do_not_exist():
    ours = D.InverseGamma(t(0.5, 1.5, 3.0), t(1.0))
    assert ours.mean.isinf().tolist() == [True, False, False]
    assert ours.variance.isinf().tolist() == [True, True, False]
