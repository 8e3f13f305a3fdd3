"""Normal vectors whose covariance is a diagonal and few directions."""

import numpy as np
import pytest
from laws import follow, t
from scipy import stats

import taeda
from taeda import distributions as D

COVARIANCE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
LOC = np.array([0.5, -1.0, 2.0])
WAY = np.array([1.0, -2.0, 0.5])
FACTOR, DIAGONAL = np.array([[1.0, 0.2], [0.5, -0.3], [2.0, 0.1]]), np.array([0.5, 1.0, 2.0])
LOW = FACTOR @ FACTOR.T + np.diag(DIAGONAL)


def distance(covariance):
    """Mahalanobis's, squared: chi-squared with three degrees of freedom."""
    inverse = np.linalg.inv(covariance)
    return lambda x: np.einsum("ni,ij,nj->n", x - LOC, inverse, x - LOC)


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


def test_samples_have_the_exact_law():
    projection = stats.norm(WAY @ LOC, np.sqrt(WAY @ LOW @ WAY))
    laws = {
        "projection": (lambda x: x @ WAY, projection),
        "distance": (distance(LOW), stats.chi2(3)),
    }
    follow(D.LowRankMultivariateNormal(t(LOC), t(FACTOR), t(DIAGONAL)), laws)


def test_density_is_scipys():
    ours = D.LowRankMultivariateNormal(t(LOC), t(FACTOR), t(DIAGONAL))
    x = stats.multivariate_normal(LOC, LOW).rvs(6, random_state=1)
    np.testing.assert_allclose(
        ours.log_prob(t(x)).numpy(), stats.multivariate_normal(LOC, LOW).logpdf(x), 1e-9
    )
    assert ours.mean.tolist() == ours.mode.tolist() == LOC.tolist()
    assert ours.expand((2,)).log_prob(t(LOC)).shape == (2,)


def test_refusals():
    with pytest.raises(ValueError, match="loc must be at least one-dimensional"):
        D.LowRankMultivariateNormal(taeda.tensor(0.0), taeda.ones(1, 1), taeda.ones(1))
    with pytest.raises(ValueError, match="shape 3 x m"):
        D.LowRankMultivariateNormal(taeda.zeros(3), taeda.ones(2, 1), taeda.ones(3))
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        D.LowRankMultivariateNormal(taeda.zeros(3), taeda.ones(3, 1), taeda.ones(2))
    with pytest.raises(ValueError, match="parameter cov_diag"):
        D.LowRankMultivariateNormal(taeda.zeros(3), taeda.ones(3, 1), -taeda.ones(3))
