"""The binomial distribution."""

import numpy as np
import pytest
from laws import Counts, t
from scipy import stats

import taeda
from taeda import distributions as D


class TestBinomial(Counts):
    ours, theirs = D.Binomial, staticmethod(stats.binom)
    grid = ((5.0, 0.3), (200.0, 0.7), (1.0, 0.5), (30.0, 0.001))
    counts = (0,)  # parameters without a gradient
    refused = ((5.0, -0.1), (5.0, 1.1), (-1.0, 0.5))
    outside = (0.5, -1.0, 6.0)
    lacks = ("cdf", "icdf", "rsample")

    def test_gradient_of_the_density(self, params):
        """By the probability; a count is no number that moves."""
        x = self.points(params)
        p = t(params[1]).requires_grad_()
        D.Binomial(params[0], p).log_prob(taeda.tensor(x)).sum().backward()
        wanted = (x / params[1] - (params[0] - x) / (1 - params[1])).sum()
        np.testing.assert_allclose(p.grad.item(), wanted, 1e-6, 1e-6 / params[1])


def test_different_counts_have_no_common_support():
    ours = D.Binomial(t(2.0, 3.0), t(0.5))
    for ask in (ours.entropy, ours.enumerate_support):
        with pytest.raises(NotImplementedError, match="different total_count"):
            ask()


def test_log_odds_give_the_same():
    x = t(0.0, 2.0, 5.0)
    taeda.testing.assert_close(
        D.Binomial(5, logits=t(0.3).logit()).log_prob(x), D.Binomial(5, t(0.3)).log_prob(x)
    )
