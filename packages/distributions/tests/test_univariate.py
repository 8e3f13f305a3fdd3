"""Densities, shares, moments and entropies against scipy's, samples against the shares."""

import numpy as np
import pytest
from scipy import stats

import taeda
from taeda import distributions as D

T = taeda.float64


def t(*values):
    return taeda.tensor(values, dtype=T)


#: name -> (ours, scipy's with the same parameters)
CONTINUOUS = {
    "Normal": (D.Normal(t(0.5), t(2.0)), stats.norm(0.5, 2.0)),
    "Laplace": (D.Laplace(t(0.5), t(2.0)), stats.laplace(0.5, 2.0)),
    "Cauchy": (D.Cauchy(t(0.5), t(2.0)), stats.cauchy(0.5, 2.0)),
    "Uniform": (D.Uniform(t(-1.0), t(3.0)), stats.uniform(-1.0, 4.0)),
    "Exponential": (D.Exponential(t(2.0)), stats.expon(scale=0.5)),
    "Gamma": (D.Gamma(t(2.5), t(3.0)), stats.gamma(2.5, scale=1 / 3)),
    "Chi2": (D.Chi2(t(3.0)), stats.chi2(3.0)),
    "Beta": (D.Beta(t(0.7), t(2.0)), stats.beta(0.7, 2.0)),
    "StudentT": (D.StudentT(t(5.0), t(0.5), t(2.0)), stats.t(5.0, 0.5, 2.0)),
    "FisherSnedecor": (D.FisherSnedecor(t(3.0), t(6.0)), stats.f(3.0, 6.0)),
    "Gumbel": (D.Gumbel(t(0.5), t(2.0)), stats.gumbel_r(0.5, 2.0)),
    "LogNormal": (D.LogNormal(t(0.5), t(0.8)), stats.lognorm(0.8, scale=np.exp(0.5))),
    "HalfNormal": (D.HalfNormal(t(2.0)), stats.halfnorm(scale=2.0)),
    "HalfCauchy": (D.HalfCauchy(t(2.0)), stats.halfcauchy(scale=2.0)),
    "Weibull": (D.Weibull(t(2.0), t(1.5)), stats.weibull_min(1.5, scale=2.0)),
    "Pareto": (D.Pareto(t(2.0), t(3.0)), stats.pareto(3.0, scale=2.0)),
    "InverseGamma": (D.InverseGamma(t(3.0), t(2.0)), stats.invgamma(3.0, scale=2.0)),
    "VonMises": (D.VonMises(t(0.5), t(2.0)), stats.vonmises(2.0, 0.5)),
}
DISCRETE = {
    "Bernoulli": (D.Bernoulli(t(0.3)), stats.bernoulli(0.3)),
    "Geometric": (D.Geometric(t(0.3)), stats.geom(0.3, loc=-1)),
    "Binomial": (D.Binomial(5, t(0.3)), stats.binom(5, 0.3)),
    "Binomial of many": (D.Binomial(200, t(0.7)), stats.binom(200, 0.7)),
    "NegativeBinomial": (D.NegativeBinomial(t(3.0), t(0.6)), stats.nbinom(3.0, 0.4)),
    "Poisson": (D.Poisson(t(4.0)), stats.poisson(4.0)),
}
NO_CDF = {"Beta", "StudentT", "FisherSnedecor", "VonMises"}
NO_ICDF = NO_CDF | {"Gamma", "Chi2", "InverseGamma"}
POINTS = np.array([0.05, 0.2, 0.5, 0.9])


def without(names):
    return [name for name in CONTINUOUS if name not in names]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_density_and_share(name):
    ours, theirs = CONTINUOUS[name]
    x = theirs.ppf(POINTS)
    np.testing.assert_allclose(ours.log_prob(taeda.tensor(x)).numpy(), theirs.logpdf(x), rtol=1e-7)
    if name not in NO_CDF:
        np.testing.assert_allclose(ours.cdf(taeda.tensor(x)).numpy(), POINTS, rtol=1e-7)


@pytest.mark.parametrize("name", without(NO_ICDF))
def test_inverse_of_the_share(name):
    ours, theirs = CONTINUOUS[name]
    found = ours.icdf(taeda.tensor(POINTS)).numpy()
    np.testing.assert_allclose(found, theirs.ppf(POINTS), rtol=1e-7)


@pytest.mark.parametrize("name", sorted(NO_ICDF))
def test_no_inverse_of_the_share(name):
    with pytest.raises(NotImplementedError, match="has no icdf"):
        CONTINUOUS[name][0].icdf(t(0.5))


@pytest.mark.parametrize("name", without({"Cauchy", "HalfCauchy", "VonMises"}))
def test_moments_of_numbers(name):
    ours, theirs = CONTINUOUS[name]
    assert ours.mean.item() == pytest.approx(theirs.mean())
    assert ours.variance.item() == pytest.approx(theirs.var())
    assert ours.stddev.item() == pytest.approx(theirs.std())


def test_moments_that_do_not_exist():
    assert D.Cauchy(0.0, 1.0).mean.isnan()
    assert D.HalfCauchy(1.0).mean.isinf()
    heavy = D.StudentT(t(0.5, 1.5, 3.0)).variance
    assert heavy[0].isnan()
    assert heavy[1:].tolist() == [np.inf, pytest.approx(3.0)]


@pytest.mark.parametrize("name", without({"FisherSnedecor", "VonMises"}))
def test_entropy_of_numbers(name):
    ours, theirs = CONTINUOUS[name]
    assert ours.entropy().item() == pytest.approx(theirs.entropy(), rel=1e-6)
    assert ours.perplexity().item() == pytest.approx(np.exp(theirs.entropy()), rel=1e-6)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_of_numbers(name):
    ours, theirs = CONTINUOUS[name]
    taeda.manual_seed(7)
    x = ours.sample((4000,)).flatten().numpy()
    assert stats.kstest(x, theirs.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", DISCRETE)
def test_counts(name):
    ours, theirs = DISCRETE[name]
    k = np.arange(int(theirs.ppf(0.01)), int(theirs.ppf(0.99)) + 1)
    log_prob = ours.log_prob(taeda.tensor(k, dtype=T)).numpy()
    np.testing.assert_allclose(log_prob, theirs.logpmf(k), rtol=1e-6)
    assert ours.mean.item() == pytest.approx(theirs.mean())
    assert ours.variance.item() == pytest.approx(theirs.var())
    taeda.manual_seed(7)
    x = ours.sample((20000,)).flatten().numpy()
    seen = np.array([(x == v).sum() for v in k])
    wanted = theirs.pmf(k) * len(x)
    large = wanted > 20
    chi = ((seen - wanted) ** 2 / wanted)[large].sum()
    assert stats.chi2(large.sum()).sf(chi) > 1e-3


@pytest.mark.parametrize("name", ["Bernoulli", "Geometric", "Binomial", "Binomial of many"])
def test_entropy_of_counts(name):
    ours, theirs = DISCRETE[name]
    assert ours.entropy().item() == pytest.approx(float(theirs.entropy()), rel=1e-6)


@pytest.mark.parametrize("p", [0.02, 0.3, 0.4995, 0.5, 0.7])
def test_continuous_bernoulli_by_quadrature(p):
    ours = D.ContinuousBernoulli(t(p))
    x = np.linspace(0, 1, 20001)
    density = ours.log_prob(taeda.tensor(x)).exp().numpy()
    mean = np.trapezoid(density * x, x)
    assert np.trapezoid(density, x) == pytest.approx(1, rel=1e-6)
    assert ours.mean.item() == pytest.approx(mean, rel=1e-6)
    assert ours.variance.item() == pytest.approx(
        np.trapezoid(density * (x - mean) ** 2, x), rel=1e-5
    )
    assert ours.entropy().item() == pytest.approx(
        -np.trapezoid(density * np.log(density), x), abs=1e-6
    )
    np.testing.assert_allclose(ours.cdf(ours.icdf(taeda.tensor(POINTS))).numpy(), POINTS, rtol=1e-9)


def test_kumaraswamy_by_quadrature():
    ours = D.Kumaraswamy(t(2.0), t(3.0))
    x = np.linspace(0, 1, 20001)[1:-1]
    density = ours.log_prob(taeda.tensor(x)).exp().numpy()
    assert ours.mean.item() == pytest.approx(np.trapezoid(density * x, x), rel=1e-5)
    assert ours.entropy().item() == pytest.approx(
        -np.trapezoid(density * np.log(density), x), abs=1e-5
    )


@pytest.mark.parametrize("concentration", [1e-6, 0.3, 5.0, 500.0])
def test_von_mises_of_every_concentration(concentration):
    taeda.manual_seed(3)
    x = D.VonMises(t(2.0), t(concentration)).sample((3000,)).flatten().numpy()
    assert np.abs(x).max() <= np.pi
    turned = (x - 2.0 + np.pi) % (2 * np.pi) - np.pi
    assert stats.kstest(turned, stats.vonmises(concentration).cdf).pvalue > 1e-3


@pytest.mark.parametrize("shape", [1e-2, 0.2, 0.9, 3.0, 40.0])
def test_gamma_samples_move_with_their_shape(shape):
    """The derivative of a sample is the quantile's, at the sample's own place."""
    place = np.linspace(0.01, 0.99, 30)
    x = stats.gamma(shape).ppf(place)
    h = shape * 1e-5
    wanted = (stats.gamma(shape + h).ppf(place) - stats.gamma(shape - h).ppf(place)) / (2 * h)
    there = x > 1e-250
    found = taeda._standard_gamma_grad(taeda.full((30,), shape, dtype=T), taeda.tensor(x)).numpy()
    np.testing.assert_allclose(found[there], wanted[there], rtol=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda a: D.Gamma(a, 2.0),
        lambda a: D.Beta(a, 2.0),
        lambda a: D.StudentT(a),
        lambda a: D.Chi2(a),
        lambda a: D.InverseGamma(a, 2.0),
    ],
)
def test_gradients_of_means_through_samples(make):
    taeda.manual_seed(5)
    a = taeda.tensor(4.0, dtype=T, requires_grad=True)
    make(a).rsample((40000,)).mean().backward()
    b = taeda.tensor(4.0, dtype=T)
    wanted = (make(b + 1e-4).mean - make(b - 1e-4).mean) / 2e-4
    assert a.grad.item() == pytest.approx(wanted.item(), abs=0.03)
