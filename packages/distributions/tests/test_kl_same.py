"""Divergences within one family, by quadrature."""

import numpy as np
import pytest
from laws import t
from scipy.integrate import quad

import taeda
from taeda import distributions as D

#: (p, from where to where it lies), q
PAIRS = [
    ((D.Normal(t(0.3), t(1.2)), -12, 12), D.Normal(t(-0.5), t(2.0))),
    ((D.Laplace(t(0.3), t(1.2)), -30, 30), D.Laplace(t(-0.5), t(2.0))),
    ((D.Gamma(t(2.5), t(1.2)), 1e-9, 40), D.Gamma(t(1.5), t(2.0))),
    ((D.Beta(t(2.5), t(1.2)), 1e-12, 1 - 1e-12), D.Beta(t(1.5), t(2.0))),
    ((D.Exponential(t(2.5)), 0, 20), D.Exponential(t(0.3))),
    ((D.Gumbel(t(0.3), t(1.2)), -6, 50), D.Gumbel(t(-0.5), t(2.0))),
    ((D.Uniform(t(0.2), t(0.9)), 0.2, 0.9 - 1e-15), D.Uniform(t(0.0), t(3.0))),
    ((D.ContinuousBernoulli(t(0.3)), 0, 1), D.ContinuousBernoulli(t(0.8))),
    ((D.HalfNormal(t(1.0)), 0, 9), D.HalfNormal(t(2.0))),
    ((D.Pareto(t(2.0), t(6.0)), 2, 400), D.Pareto(t(1.0), t(3.0))),
    ((D.LogNormal(t(0.3), t(0.5)), 1e-3, 60), D.LogNormal(t(0.0), t(0.7))),
]  # fmt: skip


def total(p, q):
    """The divergence by quadrature; `low` and `high` hold nearly all of p."""
    theirs, low, high = p
    middle = (low + high) / 2

    def gap(x):
        log_p = theirs.log_prob(t(x))
        return (log_p.exp() * (log_p - q.log_prob(t(x)))).item()

    return sum(quad(gap, *ends, limit=200)[0] for ends in ((low, middle), (middle, high)))


@pytest.mark.parametrize(
    ("p", "q"), PAIRS, ids=lambda d: type(d[0] if isinstance(d, tuple) else d).__name__
)
def test_the_formula_is_the_integral(p, q):
    assert D.kl_divergence(p[0], q).item() == pytest.approx(total(p, q), rel=1e-6, abs=1e-8)


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="different event shapes"):
        D.kl_divergence(
            D.MultivariateNormal(taeda.zeros(2), taeda.eye(2)),
            D.MultivariateNormal(taeda.zeros(3), taeda.eye(3)),
        )
    with pytest.raises(NotImplementedError, match="total_count"):
        D.kl_divergence(D.Binomial(2, t(0.5)), D.Binomial(3, t(0.5)))
    assert D.kl_divergence(D.Binomial(4, t(0.5)), D.Binomial(3, t(0.5))).isinf()
    two, one = (
        D.Independent(D.Normal(taeda.zeros(2, 2), 1.0), 2),
        D.Independent(D.Normal(taeda.zeros(2, 2), 1.0), 1),
    )
    with pytest.raises(NotImplementedError, match="numbers of dimensions"):
        D.kl_divergence(two, one)
    tanh, exp = (
        D.TransformedDistribution(D.Normal(0.0, 1.0), [f])
        for f in (D.TanhTransform(), D.ExpTransform())
    )
    with pytest.raises(NotImplementedError, match="not transformed alike"):
        D.kl_divergence(tanh, exp)


def test_chances_of_nothing():
    """What p never does costs nothing; what q never does costs everything."""
    assert D.kl_divergence(D.Bernoulli(t(0.0)), D.Bernoulli(t(0.3))).item() == pytest.approx(
        -np.log(0.7)
    )
    assert D.kl_divergence(D.Bernoulli(t(0.3)), D.Bernoulli(t(0.0))).isinf()
    sure = D.Categorical(t([1.0, 0.0]))
    assert D.kl_divergence(sure, D.Categorical(t([0.5, 0.5]))).item() == pytest.approx(np.log(2))
    assert D.kl_divergence(D.Categorical(t([0.5, 0.5])), sure).isinf()


def test_cauchy_by_its_quantiles():
    """Its tails reach too far for an integral over values: the mean over evenly spread shares."""
    p, q = D.Cauchy(t(0.3), t(1.2)), D.Cauchy(t(-0.5), t(2.0))
    x = p.icdf((taeda.arange(200000, dtype=taeda.float64) + 0.5) / 200000)
    wanted = (p.log_prob(x) - q.log_prob(x)).mean().item()
    assert D.kl_divergence(p, q).item() == pytest.approx(wanted, rel=1e-5)


def test_counts_by_their_sum():
    k = taeda.arange(200, dtype=taeda.float64)
    for p, q in (
        (D.Poisson(t(3.0)), D.Poisson(t(2.0))),
        (D.Geometric(t(0.3)), D.Geometric(t(0.6))),
    ):
        log_p = p.log_prob(k)
        wanted = (log_p.exp() * (log_p - q.log_prob(k))).sum().item()
        assert D.kl_divergence(p, q).item() == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("kind", [D.Gamma, D.Beta])
def test_the_exponential_family_gives_the_same(kind):
    """The general formula, by natural parameters, against the family's own."""
    p, q = kind(t([2.5, 0.7]), t([1.2, 3.0])), kind(t([1.5, 2.0]), t([2.0, 1.0]))
    general = D.kl._formula_of(D.exp_family.ExponentialFamily, D.exp_family.ExponentialFamily)
    taeda.testing.assert_close(general(p, q).detach(), D.kl_divergence(p, q))
    with pytest.raises(NotImplementedError, match="different exponential families"):
        general(D.Poisson(t(1.0)), D.Bernoulli(t(0.5)))
