"""Samples of vectors, matrices and compounds against exact laws of what is measured on them; numbers are in test_univariate.

A measure of a sample has a law of one dimension: Kolmogorov's test where that is continuous, chi-square where it is counts.
"""

import numpy as np
import pytest
from scipy import stats

import taeda
from taeda import distributions as D

T = taeda.float64
COUNT = 20000


def t(values):
    return taeda.tensor(values, dtype=T)


COVARIANCE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
LOC = np.array([0.5, -1.0, 2.0])
WAY = np.array([1.0, -2.0, 0.5])
FACTOR, DIAGONAL = np.array([[1.0, 0.2], [0.5, -0.3], [2.0, 0.1]]), np.array([0.5, 1.0, 2.0])
LOW = FACTOR @ FACTOR.T + np.diag(DIAGONAL)
SHARES = np.array([0.2, 0.5, 0.3])


def correlation(i, j):
    return lambda x: (x @ x.transpose(0, 2, 1))[:, i, j]


def lkj(dim, eta):
    """Every correlation has this law (Lewandowski, Kurowicka, Joe, 2009)."""
    shape = eta + (dim - 2) / 2
    law = stats.beta(shape, shape, loc=-1, scale=2)
    places = [(i, j) for i in range(dim) for j in range(i)]
    return D.LKJCholesky(dim, t(eta)), {f"{p}": (correlation(*p), law) for p in places}


def normal(ours, covariance):
    def distance(x):
        return np.einsum("ni,ij,nj->n", x - LOC, np.linalg.inv(covariance), x - LOC)

    law = stats.norm(WAY @ LOC, np.sqrt(WAY @ covariance @ WAY))
    return ours, {"projection": (lambda x: x @ WAY, law), "distance": (distance, stats.chi2(3))}


def dirichlet(shapes):
    total = sum(shapes)
    laws = {
        f"{i}": (lambda x, i=i: x[:, i], stats.beta(a, total - a)) for i, a in enumerate(shapes)
    }
    pair = shapes[0] + shapes[1]
    laws["sum"] = (lambda x: x[:, 0] + x[:, 1], stats.beta(pair, total - pair))
    return D.Dirichlet(t(shapes)), laws


def wishart(freedom):
    scale = WAY @ COVARIANCE @ WAY
    return D.Wishart(t(freedom), t(COVARIANCE)), {
        "form": (lambda x: np.einsum("i,nij,j->n", WAY, x, WAY) / scale, stats.chi2(freedom)),
        "inverse": (
            lambda x: 1 / np.linalg.inv(x)[:, 0, 0] * np.linalg.inv(COVARIANCE)[0, 0],
            stats.chi2(freedom - 2),
        ),
    }


class Cumulative:
    """A law by its distribution function."""

    def __init__(self, cdf):
        self.cdf = cdf


def kumaraswamy(a, b):
    law = Cumulative(lambda x: 1 - (1 - x**a) ** b)
    return D.Kumaraswamy(t(a), t(b)), {"value": (np.ravel, law)}


def continuous_bernoulli(p):
    law = Cumulative(lambda x: (p**x * (1 - p) ** (1 - x) + p - 1) / (2 * p - 1))
    return D.ContinuousBernoulli(t(p)), {"value": (np.ravel, law)}


def relaxed_bernoulli(temperature, p):
    def noise(x):
        return temperature * np.log(x / (1 - x)) - np.log(p / (1 - p))

    return D.RelaxedBernoulli(t(temperature), t(p)), {"noise": (noise, stats.logistic())}


def relaxed_categorical(temperature):
    def noise(x):
        return temperature * np.log(x[:, 0] / x[:, 1]) - np.log(SHARES[0] / SHARES[1])

    ours = D.RelaxedOneHotCategorical(t(temperature), t(SHARES))
    return ours, {"noise": (noise, stats.logistic())}


def mixture():
    parts = D.Normal(t([-2.0, 0.0, 3.0]), t([0.5, 1.0, 2.0]))
    law = Cumulative(lambda x: stats.norm(-2, 0.5).cdf(x) * 0.2 + stats.norm(0, 1).cdf(x) * 0.5
                     + stats.norm(3, 2).cdf(x) * 0.3)  # fmt: skip
    return D.MixtureSameFamily(D.Categorical(t(SHARES)), parts), {"value": (np.ravel, law)}


def transformed():
    ours = D.TransformedDistribution(D.Gamma(t(2.0), t(1.0)), D.AffineTransform(1.0, 3.0))
    return ours, {"value": (np.ravel, stats.gamma(2.0, loc=1.0, scale=3.0))}


CONTINUOUS = {
    **{f"LKJCholesky {d} {eta}": lkj(d, eta) for d in (2, 3, 4, 5) for eta in (0.5, 1.0, 2.5)},
    "MultivariateNormal": normal(D.MultivariateNormal(t(LOC), t(COVARIANCE)), COVARIANCE),
    "LowRankMultivariateNormal": normal(
        D.LowRankMultivariateNormal(t(LOC), t(FACTOR), t(DIAGONAL)), LOW
    ),
    "Dirichlet": dirichlet([0.5, 1.0, 2.5]),
    "Dirichlet of large shapes": dirichlet([50.0, 10.0, 200.0]),
    "Wishart": wishart(4.5),
    "Kumaraswamy": kumaraswamy(0.7, 2.0),
    "ContinuousBernoulli": continuous_bernoulli(0.2),
    "RelaxedBernoulli": relaxed_bernoulli(0.7, 0.3),
    "RelaxedOneHotCategorical": relaxed_categorical(0.7),
    "MixtureSameFamily": mixture(),
    "TransformedDistribution": transformed(),
    "Independent": (
        D.Independent(D.Normal(t(LOC), t([1.0, 2.0, 0.5])), 1),
        {"last": (lambda x: x[:, 2], stats.norm(2.0, 0.5))},
    ),
}
#: name -> (ours, what is counted, how likely each count is)
COUNTED = {
    "Categorical": (D.Categorical(t(SHARES)), np.ravel, SHARES),
    "OneHotCategorical": (D.OneHotCategorical(t(SHARES)), lambda x: x.argmax(-1), SHARES),
    "Multinomial": (
        D.Multinomial(6, t(SHARES)),
        lambda x: x[:, 1],
        stats.binom(6, SHARES[1]).pmf(np.arange(7)),
    ),
    "RelaxedOneHotCategorical": (relaxed_categorical(0.7)[0], lambda x: x.argmax(-1), SHARES),
    "MixtureSameFamily of counts": (
        D.MixtureSameFamily(D.Categorical(t(SHARES)), D.Poisson(t([1.0, 4.0, 2.0]))),
        lambda x: x.clip(max=9),
        np.append(
            sum(
                w * stats.poisson(m).pmf(np.arange(9))
                for w, m in zip(SHARES, (1, 4, 2), strict=True)
            ),
            sum(w * stats.poisson(m).sf(8) for w, m in zip(SHARES, (1, 4, 2), strict=True)),
        ),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_have_the_exact_law(name):
    ours, laws = CONTINUOUS[name]
    taeda.manual_seed(11)
    x = ours.sample((COUNT,)).numpy()
    for what, (measure, law) in laws.items():
        assert stats.kstest(measure(x), law.cdf).pvalue > 1e-3, what


@pytest.mark.parametrize("name", COUNTED)
def test_counts_have_the_exact_law(name):
    ours, measure, chances = COUNTED[name]
    taeda.manual_seed(11)
    seen = np.bincount(measure(ours.sample((COUNT,)).numpy()).astype(int), minlength=len(chances))
    assert stats.chisquare(seen, chances * COUNT).pvalue > 1e-3
