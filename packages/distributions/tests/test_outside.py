"""The cdf outside of the support, which nobody checks with validate_args=False."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda import distributions as D

ONE, TWO, THIRD = taeda.tensor(1.0), taeda.tensor(2.0), taeda.tensor(0.3)
MADE = {  # with the ends of the support
    "half_normal": (D.HalfNormal(TWO, validate_args=False), 0, math.inf),
    "half_cauchy": (D.HalfCauchy(TWO, validate_args=False), 0, math.inf),
    "exponential": (D.Exponential(TWO, validate_args=False), 0, math.inf),
    "gamma": (D.Gamma(TWO, ONE, validate_args=False), 0, math.inf),
    "chi2": (D.Chi2(TWO, validate_args=False), 0, math.inf),
    "log_normal": (D.LogNormal(ONE, ONE, validate_args=False), 0, math.inf),
    "pareto": (D.Pareto(TWO, ONE, validate_args=False), 2, math.inf),
    "weibull": (D.Weibull(ONE, TWO, validate_args=False), 0, math.inf),
    "kumaraswamy": (D.Kumaraswamy(TWO, TWO, validate_args=False), 0, 1),
    "uniform": (D.Uniform(-ONE, TWO, validate_args=False), -1, 2),
    "continuous_bernoulli": (D.ContinuousBernoulli(THIRD, validate_args=False), 0, 1),
    "generalized_pareto": (D.GeneralizedPareto(ONE, TWO, THIRD, validate_args=False), 1, math.inf),
    "its bounded form": (D.GeneralizedPareto(ONE, TWO, -ONE / 2, validate_args=False), 1, 5),
    "inverse_gamma": (D.InverseGamma(TWO, ONE, validate_args=False), 0, math.inf),
}


@pytest.mark.parametrize("name", MADE)
def test_a_cdf_is_0_below_the_support_and_1_above(name):
    made, low, high = MADE[name]
    below = taeda.tensor([low - 1e3, low - 1.0, low - 0.01])
    assert made.cdf(below).tolist() == [0, 0, 0]
    if math.isfinite(high):
        assert made.cdf(taeda.tensor([high + 0.01, high + 1.0, high + 1e3])).tolist() == [1, 1, 1]
    inside = taeda.tensor([low + 0.25, low + 0.5])
    shares = made.cdf(inside).tolist()
    assert 0 < shares[0] < shares[1] < 1
    assert made.cdf(taeda.tensor(math.nan)).isnan()


@pytest.mark.parametrize("name", MADE)
def test_a_cdf_outside_has_no_slope(name):
    made, low, _ = MADE[name]
    x = taeda.tensor([low - 1.0], requires_grad=True)
    assert taeda.autograd.grad(made.cdf(x).sum(), x)[0].tolist() == [0]


@pytest.mark.parametrize(
    ("p", "q", "wanted"), [(0.0, 2.0, 2.0), (0.0, 0.0, 0.0), (2.0, 2.0, 0.0), (2.0, 0.0, math.inf)]
)
def test_a_poisson_that_counts_nothing_is_apart_by_the_other_rate(p, q, wanted):
    made = [D.Poisson(taeda.tensor(rate), validate_args=False) for rate in (p, q)]
    assert D.kl_divergence(*made).item() == wanted
