"""The log-normal distribution."""

import numpy as np
from laws import Continuous
from scipy import stats

from taeda import distributions as D


class TestLogNormal(Continuous):
    ours = D.LogNormal
    grid = ((0.5, 0.8), (0.0, 0.01), (-10.0, 2.0))
    refused = ((0.0, -1.0), (0.0, 0.0))
    outside = (-0.5, 0.0)

    @staticmethod
    def theirs(loc, scale):
        return stats.lognorm(scale, scale=np.exp(loc))
