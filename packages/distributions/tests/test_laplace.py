"""The Laplace distribution."""

from laws import Continuous
from scipy import stats

from taeda import distributions as D


class TestLaplace(Continuous):
    ours, theirs = D.Laplace, staticmethod(stats.laplace)
    grid = ((0.5, 2.0), (0.0, 1e-6), (-20.0, 1e6))
    refused = ((0.0, -1.0), (0.0, 0.0), (float("nan"), 1.0))
