"""The von Mises distribution, of angles."""

import numpy as np
import pytest
from laws import Continuous, t
from scipy import stats
from scipy.special import i0e, i1e

import taeda
from taeda import distributions as D


class TestVonMises(Continuous):
    ours = D.VonMises
    grid = ((0.5, 2.0), (0.0, 0.1), (0.0, 300.0))
    refused = ((0.0, -1.0), (0.0, 0.0))
    lacks = ("cdf", "icdf", "entropy", "rsample")

    @staticmethod
    def theirs(loc, concentration):
        return stats.vonmises(concentration, loc)

    def test_moments(self, params):
        """The variance is that of a direction: 1 less the mean of the cosine."""
        ours = self.made(params)
        assert ours.mean.item() == params[0]
        np.testing.assert_allclose(ours.variance.item(), 1 - i1e(params[1]) / i0e(params[1]), 1e-7)


@pytest.mark.parametrize("concentration", [1e-6, 0.3, 5.0, 500.0])
def test_von_mises_of_every_concentration(concentration):
    taeda.manual_seed(3)
    x = D.VonMises(t(2.0), t(concentration)).sample((3000,)).flatten().numpy()
    assert np.abs(x).max() <= np.pi
    turned = (x - 2.0 + np.pi) % (2 * np.pi) - np.pi
    assert stats.kstest(turned, stats.vonmises(concentration).cdf).pvalue > 1e-3
