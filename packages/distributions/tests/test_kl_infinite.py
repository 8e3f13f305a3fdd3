"""Divergences that are infinite whatever the parameters."""

import pytest
from laws import t

import taeda
from taeda import distributions as D


def test_divergence_is_infinite_where_q_cannot_follow():
    assert D.kl_divergence(D.Normal(0.0, 1.0), D.Uniform(0.0, 1.0)).item() == taeda.inf
    assert D.kl_divergence(D.Uniform(0.0, 2.0), D.Uniform(0.0, 1.0)).item() == taeda.inf
    assert D.kl_divergence(D.Poisson(taeda.ones(3)), D.Bernoulli(0.5)).tolist() == [taeda.inf] * 3


NEVER = [
    (D.Beta, D.Pareto), (D.ContinuousBernoulli, D.Pareto), (D.Exponential, D.Uniform),
    (D.Gamma, D.Beta), (D.Gumbel, D.Exponential),
    (D.Laplace, D.Gamma), (D.Normal, D.Pareto), (D.Pareto, D.Uniform), (D.Poisson, D.Binomial),
]  # fmt: skip


def made(kind):
    two = (D.ContinuousBernoulli, D.Poisson, D.Exponential)
    return kind(t(0.4)) if kind in two else kind(t(1.0), t(0.5) if kind is D.Binomial else t(2.0))


@pytest.mark.parametrize(("p", "q"), NEVER, ids=lambda kind: kind.__name__)
def test_q_gives_nothing_where_p_is(p, q):
    found = D.kl_divergence(made(p).expand((3, 1)), made(q).expand((2,)))
    assert found.shape == (3, 2)
    assert found.isinf().all()
    assert found.dtype == taeda.float64
