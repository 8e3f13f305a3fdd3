"""The Wishart distribution, of matrices."""

import numpy as np
import pytest
from laws import follow, t
from scipy import stats

import taeda
from taeda import distributions as D

COVARIANCE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
LOC = np.array([0.5, -1.0, 2.0])
WAY = np.array([1.0, -2.0, 0.5])


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


def test_samples_have_the_exact_law():
    """A quadratic form, and the inverse of an element of the inverse, are chi-squared."""
    freedom, size = 4.5, WAY @ COVARIANCE @ WAY
    laws = {
        "form": (lambda x: np.einsum("i,nij,j->n", WAY, x, WAY) / size, stats.chi2(freedom)),
        "inverse": (
            lambda x: np.linalg.inv(COVARIANCE)[0, 0] / np.linalg.inv(x)[:, 0, 0],
            stats.chi2(freedom - 2),
        ),
    }
    follow(D.Wishart(t(freedom), t(COVARIANCE)), laws)


def test_each_way_to_give_the_scale():
    ways = (
        D.Wishart(t(5.0), t(COVARIANCE)),
        D.Wishart(5.0, precision_matrix=t(np.linalg.inv(COVARIANCE))),
        D.Wishart(t(5.0), scale_tril=t(np.linalg.cholesky(COVARIANCE))),
    )
    x = t(stats.wishart(5.0, COVARIANCE).rvs(3, random_state=1))
    for ours in ways:
        for name in ("covariance_matrix", "precision_matrix", "scale_tril", "mean", "mode"):
            taeda.testing.assert_close(getattr(ours, name), getattr(ways[0], name))
        taeda.testing.assert_close(ours.log_prob(x), ways[0].log_prob(x))
    taeda.testing.assert_close(ways[0].mode, t(COVARIANCE))
    assert D.Wishart(t(3.5), t(COVARIANCE)).mode.isnan().all()


def test_entropy_through_the_exponential_family():
    ours = D.Wishart(t(5.0), t(COVARIANCE))
    found = D.exp_family.ExponentialFamily.entropy(ours)
    assert found.item() == pytest.approx(ours.entropy().item())


def test_gradients_of_samples():
    taeda.manual_seed(2)
    df = t(5.0).requires_grad_()
    D.Wishart(df, t(COVARIANCE)).rsample((20000,)).mean(0).sum().backward()
    assert df.grad.item() == pytest.approx(COVARIANCE.sum(), rel=0.03)


def test_refusals():
    with pytest.raises(ValueError, match="greater than ndim - 1 = 2"):
        D.Wishart(t(2.0), t(COVARIANCE))
    with pytest.raises(ValueError, match="Exactly one of"):
        D.Wishart(t(5.0))
    with pytest.raises(ValueError, match="at least two-dimensional"):
        D.Wishart(t(5.0), t([1.0, 1.0]))
    with pytest.raises(ValueError, match="within the support"):
        D.Wishart(t(5.0), t(COVARIANCE)).log_prob(t(-COVARIANCE))
