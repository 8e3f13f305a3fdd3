"""The beta distribution."""

from laws import Continuous, t
from scipy import stats

from taeda import distributions as D


class TestBeta(Continuous):
    ours, theirs = D.Beta, staticmethod(stats.beta)
    grid = ((0.7, 2.0), (1.0, 1.0), (0.05, 0.1), (300.0, 500.0))
    no_mode = ((1.0, 1.0),)
    refused = ((-1.0, 1.0), (1.0, 0.0))
    outside = (-0.5, 1.5)
    lacks = ("cdf", "icdf")
    by_quantile = False  # a sample has two noises


def test_the_sides_have_names():
    ours = D.Beta(t(0.7), t(2.0))
    assert (ours.concentration1.item(), ours.concentration0.item()) == (0.7, 2.0)
