"""The Kumaraswamy distribution, whose law is in closed form."""

import numpy as np
import pytest
from laws import Continuous, t
from scipy import stats

import taeda
from taeda import distributions as D


class Law(stats.rv_continuous):
    """The same by its distribution function."""

    def _cdf(self, x, a, b):
        return -np.expm1(b * np.log1p(-(x**a)))

    def _sf(self, x, a, b):
        return (1 - x**a) ** b

    def _ppf(self, q, a, b):
        return (-np.expm1(np.log1p(-q) / b)) ** (1 / a)

    def _isf(self, q, a, b):
        return (1 - q ** (1 / b)) ** (1 / a)

    def _pdf(self, x, a, b):
        return a * b * x ** (a - 1) * (1 - x**a) ** (b - 1)


class TestKumaraswamy(Continuous):
    ours, theirs = D.Kumaraswamy, staticmethod(Law(a=0, b=1))
    grid = ((0.7, 2.0), (2.0, 3.0), (1.0, 1.0), (8.0, 5.0))
    no_mode = ((0.7, 2.0), (1.0, 1.0))
    refused = ((-1.0, 1.0), (1.0, 0.0))
    outside = (-0.5, 1.5)
    rtol = 1e-7


def test_kumaraswamy_by_quadrature():
    ours = D.Kumaraswamy(t(2.0), t(3.0))
    x = np.linspace(0, 1, 20001)[1:-1]
    density = ours.log_prob(taeda.tensor(x)).exp().numpy()
    assert ours.mean.item() == pytest.approx(np.trapezoid(density * x, x), rel=1e-5)
    assert ours.entropy().item() == pytest.approx(
        -np.trapezoid(density * np.log(density), x), abs=1e-5
    )
