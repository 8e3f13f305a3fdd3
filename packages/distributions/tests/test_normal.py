"""The normal distribution."""

from laws import Continuous
from scipy import stats

from taeda import distributions as D


class TestNormal(Continuous):
    ours, theirs = D.Normal, staticmethod(stats.norm)
    grid = ((0.5, 2.0), (0.0, 1.0), (-30.0, 1e-3), (1e6, 1e8), (0.0, 1e-30))
    refused = ((0.0, -1.0), (0.0, 0.0), (float("nan"), 1.0), (0.0, float("nan")))
