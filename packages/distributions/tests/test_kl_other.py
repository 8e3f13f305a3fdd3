"""Divergences between two families, by quadrature."""

import pytest
from laws import t
from scipy.integrate import quad

from taeda import distributions as D

#: p, from where to where it lies
FROM = {
    "beta": (D.Beta(t(2.5), t(1.2)), 1e-12, 1 - 1e-12),
    "continuous": (D.ContinuousBernoulli(t(0.3)), 0, 1), "exponential": (D.Exponential(t(2.5)), 0, 20),
    "gamma": (D.Gamma(t(2.5), t(1.2)), 1e-9, 50), "gumbel": (D.Gumbel(t(0.3), t(0.5)), -3, 25),
    "laplace": (D.Laplace(t(0.3), t(0.4)), -20, 20),
    "uniform": (D.Uniform(t(0.2), t(0.9)), 0.2, 0.9 - 1e-15),
    "pareto": (D.Pareto(t(1.0), t(9.0)), 1, 200), "normal": (D.Normal(t(0.3), t(0.5)), -6, 6),
}  # fmt: skip
TO = {
    "normal": D.Normal(t(-0.2), t(1.5)), "exponential": D.Exponential(t(0.7)),
    "gamma": D.Gamma(t(1.5), t(2.0)), "gumbel": D.Gumbel(t(0.5), t(1.1)),
    "laplace": D.Laplace(t(-0.5), t(2.0)), "beta": D.Beta(t(1.5), t(2.0)),
    "continuous": D.ContinuousBernoulli(t(0.6)),
    "pareto": D.Pareto(t(0.1), t(2.0)), "uniform": D.Uniform(t(-0.5), t(1.5)),
}  # fmt: skip
NAMES = [
    *[("normal", k) for k in ("beta", "continuous", "exponential", "gamma", "gumbel", "laplace",
        "uniform", "pareto")],
    *[("exponential", k) for k in ("beta", "continuous", "gamma", "pareto", "uniform")],
    *[("gamma", k) for k in ("beta", "exponential", "pareto", "uniform")],
    *[("gumbel", k) for k in ("normal", "exponential", "gamma", "uniform")],
    ("uniform", "beta"), ("uniform", "continuous"), ("laplace", "normal"), ("beta", "uniform"),
    ("continuous", "beta"), ("continuous", "uniform"),
    ("pareto", "uniform"),
]  # fmt: skip
PAIRS = [(FROM[p], TO[q]) for q, p in NAMES]


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


def test_beyond_the_bounds_of_q():
    wide = D.Uniform(t(-1.0), t(3.0))
    for q in (TO["exponential"], TO["gamma"], TO["beta"], TO["continuous"], TO["pareto"]):
        assert D.kl_divergence(wide, q).isinf()
    for p in (FROM["beta"][0], FROM["continuous"][0]):
        assert D.kl_divergence(p, D.Uniform(t(0.1), t(2.0))).isinf()
    heavy = D.Pareto(t(1.0), t(0.9))
    for q in (TO["normal"], TO["exponential"], TO["gamma"]):
        assert D.kl_divergence(heavy, q).isinf()


def test_one_or_nothing_against_counts():
    p, q = D.Bernoulli(t(0.3)), D.Poisson(t(0.6))
    k = t([0.0, 1.0])
    wanted = (p.log_prob(k).exp() * (p.log_prob(k) - q.log_prob(k))).sum().item()
    assert D.kl_divergence(p, q).item() == pytest.approx(wanted)
