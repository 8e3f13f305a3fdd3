"""Distributions of vectors and matrices, and distributions made of others."""

import numpy as np
import pytest
from scipy import stats

import taeda
from taeda import distributions as D

T = taeda.float64
COVARIANCE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
LOC = np.array([0.5, -1.0, 2.0])


def t(values):
    return taeda.tensor(values, dtype=T)


def normals():
    yield "covariance", D.MultivariateNormal(t(LOC), t(COVARIANCE))
    yield "precision", D.MultivariateNormal(t(LOC), precision_matrix=t(np.linalg.inv(COVARIANCE)))
    yield "factor", D.MultivariateNormal(t(LOC), scale_tril=t(np.linalg.cholesky(COVARIANCE)))


@pytest.mark.parametrize(("name", "ours"), list(normals()))
def test_multivariate_normal(name, ours):
    theirs = stats.multivariate_normal(LOC, COVARIANCE)
    x = theirs.rvs(5, random_state=1)
    np.testing.assert_allclose(ours.log_prob(t(x)).numpy(), theirs.logpdf(x), rtol=1e-9)
    assert ours.entropy().item() == pytest.approx(theirs.entropy())
    np.testing.assert_allclose(ours.covariance_matrix.numpy(), COVARIANCE, rtol=1e-9)
    np.testing.assert_allclose(ours.precision_matrix.numpy(), np.linalg.inv(COVARIANCE), rtol=1e-9)
    np.testing.assert_allclose(ours.variance.numpy(), np.diag(COVARIANCE), rtol=1e-9)
    taeda.manual_seed(2)
    np.testing.assert_allclose(np.cov(ours.sample((20000,)).numpy().T), COVARIANCE, atol=0.06)


def test_low_rank_is_the_same_as_its_covariance():
    factor, diagonal = t([[1.0, 0.2], [0.5, -0.3], [2.0, 0.1]]), t([0.5, 1.0, 2.0])
    low = D.LowRankMultivariateNormal(t(LOC), factor, diagonal)
    full = D.MultivariateNormal(t(LOC), factor @ factor.T + diagonal.diag())
    x = t(LOC + 0.3)
    for name in ("covariance_matrix", "precision_matrix", "scale_tril", "variance"):
        np.testing.assert_allclose(
            getattr(low, name).numpy(), getattr(full, name).numpy(), rtol=1e-9, atol=1e-12
        )
    assert low.log_prob(x).item() == pytest.approx(full.log_prob(x).item())
    assert low.entropy().item() == pytest.approx(full.entropy().item())
    assert D.kl_divergence(low, full).item() == pytest.approx(0, abs=1e-12)


def test_dirichlet():
    a = np.array([0.5, 2.0, 3.5])
    ours, theirs = D.Dirichlet(t(a)), stats.dirichlet(a)
    x = theirs.rvs(5, random_state=1)
    np.testing.assert_allclose(ours.log_prob(t(x)).numpy(), theirs.logpdf(x.T), rtol=1e-7)
    assert ours.entropy().item() == pytest.approx(theirs.entropy())
    np.testing.assert_allclose(ours.variance.numpy(), theirs.var(), rtol=1e-9)
    taeda.manual_seed(2)
    np.testing.assert_allclose(ours.sample((20000,)).mean(0).numpy(), theirs.mean(), atol=0.01)


def test_dirichlet_of_tiny_shapes_stays_on_the_simplex():
    x = D.Dirichlet(taeda.full((4,), 1e-3)).sample((500,))
    assert x.isfinite().all()
    taeda.testing.assert_close(x.sum(-1), taeda.ones(500))


def test_wishart():
    scale = COVARIANCE[:2, :2]
    ours, theirs = D.Wishart(t(4.0), t(scale)), stats.wishart(4.0, scale)
    x = theirs.rvs(5, random_state=1)
    np.testing.assert_allclose(
        ours.log_prob(t(x)).numpy(), theirs.logpdf(np.moveaxis(x, 0, -1)), rtol=1e-8
    )
    assert ours.entropy().item() == pytest.approx(theirs.entropy())
    taeda.manual_seed(2)
    samples = ours.sample((20000,))
    np.testing.assert_allclose(samples.mean(0).numpy(), theirs.mean(), atol=0.15)
    np.testing.assert_allclose(ours.variance.numpy(), theirs.var(), rtol=1e-9)


@pytest.mark.parametrize("concentration", [0.5, 1.0, 4.0])
def test_lkj_cholesky(concentration):
    ours = D.LKJCholesky(3, t(concentration))
    taeda.manual_seed(2)
    factors = ours.sample((4000,))
    assert D.constraints.corr_cholesky.check(factors).all()
    correlation = (factors @ factors.mT)[:, 1, 0].numpy()
    half = concentration + (3 - 2) / 2  # each correlation is a stretched Beta(half, half)
    assert stats.kstest((correlation + 1) / 2, stats.beta(half, half).cdf).pvalue > 1e-3


def test_lkj_density_of_two_rows_by_quadrature():
    ours = D.LKJCholesky(2, t(2.5))
    r = np.linspace(-0.999999, 0.999999, 4001)
    factor = np.zeros((r.size, 2, 2))
    factor[:, 0, 0], factor[:, 1, 0], factor[:, 1, 1] = 1, r, np.sqrt(1 - r**2)
    assert np.trapezoid(ours.log_prob(t(factor)).exp().numpy(), r) == pytest.approx(1, rel=1e-4)


def test_categories():
    p = t([[0.2, 0.3, 0.5], [1.0, 0.0, 1.0]])
    ours = D.Categorical(p)
    assert ours.log_prob(taeda.tensor([2, 0])).exp().tolist() == pytest.approx([0.5, 0.5])
    assert ours.entropy()[1].item() == pytest.approx(np.log(2))
    taeda.manual_seed(2)
    drawn = ours.sample((20000,))
    assert drawn.shape == (20000, 2)
    assert not (drawn[:, 1] == 1).any()
    np.testing.assert_allclose(drawn[:, 0].bincount().numpy() / 20000, p[0].numpy(), atol=0.015)
    hot = D.OneHotCategorical(p)
    assert hot.sample((4,)).sum(-1).eq(1).all()
    assert hot.enumerate_support(expand=False).shape == (3, 1, 3)


def test_multinomial():
    p = np.array([0.2, 0.3, 0.5])
    ours, theirs = D.Multinomial(6, t(p)), stats.multinomial(6, p)
    x = np.array([[1, 2, 3], [0, 0, 6]])
    np.testing.assert_allclose(ours.log_prob(t(x)).numpy(), theirs.logpmf(x), rtol=1e-9)
    assert ours.entropy().item() == pytest.approx(float(theirs.entropy()))
    taeda.manual_seed(2)
    drawn = ours.sample((5000,))
    assert drawn.sum(-1).eq(6).all()
    np.testing.assert_allclose(drawn.mean(0).numpy(), 6 * p, atol=0.1)


def test_straight_through_passes_the_gradient_of_probabilities():
    logits = taeda.zeros(3, dtype=T, requires_grad=True)
    sample = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
    assert sorted(sample.tolist()) == [0, 0, 1]
    sample[0].backward()
    np.testing.assert_allclose(logits.grad.numpy(), [2 / 9, -1 / 9, -1 / 9], rtol=1e-6)


@pytest.mark.parametrize("temperature", [0.3, 2.0])
def test_relaxed_samples(temperature):
    taeda.manual_seed(2)
    p = t([0.2, 0.3, 0.5]).requires_grad_()
    x = D.RelaxedOneHotCategorical(t(temperature), p).rsample((3000,))
    assert x.sum(-1).sub(1).abs().max() < 1e-9
    np.testing.assert_allclose(
        (x.argmax(-1).bincount() / 3000).numpy(), p.detach().numpy(), atol=0.03
    )
    x[:, 0].mean().backward()
    assert p.grad.isfinite().all()
    b = D.RelaxedBernoulli(t(temperature), t(0.3)).rsample((3000,))
    assert (b > 0.5).double().mean().item() == pytest.approx(0.3, abs=0.03)


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
