"""The chi-squared distribution."""

from laws import Continuous, t
from scipy import stats

from taeda import distributions as D


class TestChi2(Continuous):
    ours, theirs = D.Chi2, staticmethod(stats.chi2)
    grid = ((3.0,), (0.5,), (500.0,))
    refused = ((-1.0,), (0.0,))
    outside = (-0.5,)
    lacks = ("icdf",)


def test_degrees_of_freedom_are_twice_the_shape():
    ours = D.Chi2(t(3.0, 5.0)).expand((4, 2))
    assert ours.df[0].tolist() == [3.0, 5.0]
    assert ours.concentration[0].tolist() == [1.5, 2.5]
