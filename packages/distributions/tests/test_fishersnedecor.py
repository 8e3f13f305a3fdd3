"""The distribution of Fisher and Snedecor; its samples have two noises, so their gradients have to
be finite only.
"""

from laws import Continuous, t
from scipy import stats

from taeda import distributions as D


class TestFisherSnedecor(Continuous):
    ours, theirs = D.FisherSnedecor, staticmethod(stats.f)
    grid = ((3.0, 6.0), (1.0, 5.0), (50.0, 40.0))
    refused = ((-1.0, 1.0), (1.0, 0.0))
    outside = (-0.5,)
    lacks = ("cdf", "icdf", "entropy")
    no_mode = ((1.0, 5.0),)
    by_quantile = False


def test_moments_that_do_not_exist():
    ours = D.FisherSnedecor(t(3.0), t(1.5, 3.0, 5.0))
    assert ours.mean.isnan().tolist() == [True, False, False]
    assert ours.variance.isnan().tolist() == [True, True, False]
    assert D.FisherSnedecor(t(1.5), t(5.0)).mode.isnan()
