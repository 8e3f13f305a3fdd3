"""The generalised Pareto distribution."""

import numpy as np
import pytest
from laws import Continuous, t
from scipy import stats

import taeda
from taeda import distributions as D


class TestGeneralizedPareto(Continuous):
    ours = D.GeneralizedPareto
    grid = (
        *((0.5, 2.0, 0.3), (-3.0, 0.1, 0.0), (0.0, 1.0, 0.01), (1.0, 2.0, -0.4)),
        (1.0, 1.0, -1.5),
    )
    refused = ((0.0, -1.0, 0.3), (0.0, 0.0, 0.3))
    outside = (0.4, -1.0)

    @staticmethod
    def theirs(loc, scale, concentration):
        return stats.genpareto(concentration, loc=loc, scale=scale)


class TestHeavyTails(TestGeneralizedPareto):
    grid = ((0.0, 1.0, 0.7), (0.0, 5.0, 1.5))
    outside = (-1.0,)
    test_moments = None  # theirs are NaN or infinite: see below


def test_moments_that_do_not_exist():
    ours = D.GeneralizedPareto(0.0, 1.0, t(0.2, 0.5, 1.0, 2.0))
    assert ours.mean.isinf().tolist() == [False, False, True, True]
    assert ours.variance.isinf().tolist() == [False, True, True, True]


def test_tails_by_logarithms():
    ours, theirs = D.GeneralizedPareto(t(1.0), 2.0, 0.1), stats.genpareto(0.1, loc=1, scale=2)
    x = np.array([1.0, 1.1, 3.0, 100.0])
    found = ours.log_survival_function(taeda.tensor(x)).numpy()
    np.testing.assert_allclose(found, theirs.logsf(x), 1e-12)
    found = ours.log_cdf(taeda.tensor(x)).numpy()
    np.testing.assert_allclose(found, theirs.logcdf(x), 1e-8)


def test_ends_of_the_support():
    """A power has none, an exponential has none; below 0 it is loc - scale / concentration."""
    ours = D.GeneralizedPareto(1.0, 2.0, t(0.5, 0.0, -0.5, -1.0))
    ends = t(np.inf, np.inf, 5.0, 3.0)
    assert ours.support.upper_bound.tolist() == ends.tolist()
    assert ours.icdf(taeda.ones(4, dtype=taeda.float64)).tolist() == ends.tolist()
    last = ours.log_prob(t(1e9, 1e9, 5.0, 3.0))
    assert last[2].item() == -np.inf
    assert last[3].item() == pytest.approx(-np.log(2))
    with pytest.raises(ValueError, match="within the support"):
        ours.log_prob(t(2.0, 2.0, 5.1, 2.0))


@pytest.mark.parametrize("concentration", [0.0, 1e-12, -1e-7, 0.0024, -0.0026])
def test_gradient_by_a_concentration_near_zero(concentration):
    """The quotients by it are smooth there: gradients against the first two terms of the density's."""
    c, z = t(concentration).requires_grad_(), 2.0
    D.GeneralizedPareto(t(0.0), t(1.0), c).log_prob(t(z)).backward()
    first, second = z * z / 2 - z, z**2 - 2 * z**3 / 3
    wanted = first + concentration * second
    assert c.grad.item() == pytest.approx(wanted, abs=8 * concentration**2 + 1e-15)
