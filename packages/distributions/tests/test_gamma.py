"""The gamma distribution; its samples move with their shape by implicit derivatives."""

import numpy as np
import pytest
from laws import Continuous, t
from scipy import stats

import taeda
from taeda import distributions as D


class TestGamma(Continuous):
    ours = D.Gamma
    grid = ((2.5, 3.0), (0.3, 0.5), (1.0, 1.0), (200.0, 1e-3))
    refused = ((-1.0, 1.0), (1.0, 0.0))
    outside = (-0.5,)
    lacks = ("icdf",)

    @staticmethod
    def theirs(concentration, rate):
        return stats.gamma(concentration, scale=1 / rate)


@pytest.mark.parametrize("shape", [1e-2, 0.2, 0.9, 3.0, 40.0])
def test_gamma_samples_move_with_their_shape(shape):
    """The derivative of a sample is the quantile's, at the sample's own place."""
    place = np.linspace(0.01, 0.99, 30)
    x = stats.gamma(shape).ppf(place)
    h = shape * 1e-5
    wanted = (stats.gamma(shape + h).ppf(place) - stats.gamma(shape - h).ppf(place)) / (2 * h)
    there = x > 1e-250
    found = taeda._standard_gamma_grad(
        taeda.full((30,), shape, dtype=taeda.float64), taeda.tensor(x)
    )
    np.testing.assert_allclose(found.numpy()[there], wanted[there], rtol=1e-4)


def test_samples_of_tiny_shapes_have_a_logarithm():
    taeda.manual_seed(1)
    assert D.Gamma(t(1e-4), t(1.0)).sample((500,)).log().isfinite().all()
