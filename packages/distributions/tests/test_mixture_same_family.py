"""Mixtures of distributions of one family."""

import numpy as np
import pytest
from laws import chi_square, follow, t
from scipy import stats

import taeda
from taeda import distributions as D

SHARES = np.array([0.2, 0.5, 0.3])


def test_mixture():
    weights, means = np.array([0.25, 0.75]), np.array([-2.0, 1.0])
    ours = D.MixtureSameFamily(D.Categorical(t(weights)), D.Normal(t(means), t([1.0, 0.5])))
    x = np.linspace(-9, 7, 4001)
    density = (weights * stats.norm(means, [1.0, 0.5]).pdf(x[:, None])).sum(1)
    np.testing.assert_allclose(ours.log_prob(t(x)).exp().numpy(), density, rtol=1e-8)
    mean = np.trapezoid(density * x, x)
    assert ours.mean.item() == pytest.approx(mean, rel=1e-4)
    assert ours.variance.item() == pytest.approx(
        np.trapezoid(density * (x - mean) ** 2, x), rel=1e-3
    )
    taeda.manual_seed(2)
    assert (
        stats.kstest(ours.sample((3000,)).numpy(), lambda v: ours.cdf(t(v)).numpy()).pvalue > 1e-3
    )


def test_mixture_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"instance of taeda\.distributions\.Categorical"):
        D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0))
    with pytest.raises(ValueError, match="3 components, `component_distribution` has 2"):
        D.MixtureSameFamily(D.Categorical(taeda.ones(3)), D.Normal(taeda.zeros(2), 1.0))


class Mixed:
    """The weighted sum of laws."""

    def __init__(self, *parts):
        self.parts = parts

    def cdf(self, x):
        return sum(w * part.cdf(x) for w, part in zip(SHARES, self.parts, strict=True))

    def pmf(self, k):
        return sum(w * part.pmf(k) for w, part in zip(SHARES, self.parts, strict=True))


def test_samples_have_the_exact_law():
    parts = D.Normal(t([-2.0, 0.0, 3.0]), t([0.5, 1.0, 2.0]))
    law = Mixed(stats.norm(-2, 0.5), stats.norm(0, 1), stats.norm(3, 2))
    follow(D.MixtureSameFamily(D.Categorical(t(SHARES)), parts), {"value": (np.ravel, law)})


def test_samples_of_counts_have_the_exact_law():
    ours = D.MixtureSameFamily(D.Categorical(t(SHARES)), D.Poisson(t([1.0, 4.0, 2.0])))
    law = Mixed(stats.poisson(1), stats.poisson(4), stats.poisson(2))
    taeda.manual_seed(11)
    seen = np.bincount(ours.sample((20000,)).numpy().astype(int), minlength=25)
    chi_square(seen, law.pmf(np.arange(len(seen))))


def test_mixtures_of_vectors():
    parts = D.Independent(D.Normal(t([[0.0, 0.0], [5.0, 5.0]]), 1.0), 1)
    ours = D.MixtureSameFamily(D.Categorical(t([0.25, 0.75])), parts)
    assert (ours.batch_shape, ours.event_shape, ours.sample((4,)).shape) == ((), (2,), (4, 2))
    x = np.array([[0.5, -1.0], [5.0, 4.0]])
    wanted = 0.25 * stats.norm.pdf(x).prod(-1) + 0.75 * stats.norm(5).pdf(x).prod(-1)
    np.testing.assert_allclose(ours.log_prob(t(x)).exp().numpy(), wanted, 1e-9)
    assert ours.mean.tolist() == [3.75, 3.75]
    assert ours.variance.tolist() == [1 + 0.25 * 0.75 * 25] * 2
    assert ours.expand((3,)).mean.shape == (3, 2)


def test_what_does_not_fit():
    ones = D.Normal(taeda.zeros(3, 2), 1.0)
    with pytest.raises(ValueError, match="not compatible"):
        D.MixtureSameFamily(D.Categorical(taeda.ones(4, 2)), ones)
    with pytest.raises(ValueError, match="no batch dimension"):
        D.MixtureSameFamily(D.Categorical(taeda.ones(2)), D.Normal(0.0, 1.0))
    with pytest.raises(ValueError, match="Component distribution"):
        D.MixtureSameFamily(D.Categorical(taeda.ones(2)), taeda.ones(2))
    with pytest.raises(NotImplementedError, match="no reparameterised samples"):
        D.MixtureSameFamily(D.Categorical(taeda.ones(2)), ones).rsample()
