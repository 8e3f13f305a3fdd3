"""The Gumbel distribution."""

from laws import Continuous
from scipy import stats

from taeda import distributions as D


class TestGumbel(Continuous):
    ours, theirs = D.Gumbel, staticmethod(stats.gumbel_r)
    grid = ((0.5, 2.0), (0.0, 1e-3), (-20.0, 1e4))
    refused = ((0.0, -1.0), (0.0, 0.0))
