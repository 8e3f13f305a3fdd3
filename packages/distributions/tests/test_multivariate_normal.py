"""Normal vectors."""

import numpy as np
import pytest
from laws import follow, t
from scipy import stats

import taeda
from taeda import distributions as D

COVARIANCE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
LOC = np.array([0.5, -1.0, 2.0])
WAY = np.array([1.0, -2.0, 0.5])


def distance(covariance):
    """Mahalanobis's, squared: chi-squared with three degrees of freedom."""
    inverse = np.linalg.inv(covariance)
    return lambda x: np.einsum("ni,ij,nj->n", x - LOC, inverse, x - LOC)


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


@pytest.mark.parametrize(("name", "ours"), list(normals()))
def test_samples_have_the_exact_law(name, ours):
    projection = stats.norm(WAY @ LOC, np.sqrt(WAY @ COVARIANCE @ WAY))
    laws = {
        "projection": (lambda x: x @ WAY, projection),
        "distance": (distance(COVARIANCE), stats.chi2(3)),
    }
    follow(ours, laws)


def test_samples_move_with_the_parameters():
    """The same noise, a little more of one parameter."""

    def drawn(loc, tril):
        taeda.manual_seed(3)
        return D.MultivariateNormal(loc, scale_tril=tril).rsample((4,)).sin().sum()

    leaves = t(LOC).requires_grad_(), t(np.linalg.cholesky(COVARIANCE)).requires_grad_()
    drawn(*leaves).backward()
    for k, place in ((0, (1,)), (1, (2, 0)), (1, (1, 1))):
        ends = []
        for step in (1e-6, -1e-6):
            moved = [leaf.detach().clone() for leaf in leaves]
            moved[k][place] += step
            ends.append(drawn(*moved).item())
        assert leaves[k].grad[place].item() == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_far_and_narrow():
    scale = t([1e-6, 1.0, 1e6])
    ours = D.MultivariateNormal(t([1e6, 0.0, -1e6]), covariance_matrix=(scale**2).diag())
    parts = D.Independent(D.Normal(ours.loc, scale), 1)
    x = ours.loc + scale * t([0.5, -2.0, 1.0])
    assert ours.log_prob(x).item() == pytest.approx(parts.log_prob(x).item(), rel=1e-6)
    assert ours.entropy().item() == pytest.approx(parts.entropy().item())


def test_refusals():
    with pytest.raises(ValueError, match="Exactly one of covariance_matrix"):
        D.MultivariateNormal(taeda.zeros(2))
    with pytest.raises(ValueError, match="Exactly one of covariance_matrix"):
        D.MultivariateNormal(taeda.zeros(2), taeda.eye(2), taeda.eye(2))
    with pytest.raises(ValueError, match="at least one-dimensional"):
        D.MultivariateNormal(taeda.tensor(0.0), taeda.eye(2))
    with pytest.raises(ValueError, match="at least two-dimensional"):
        D.MultivariateNormal(taeda.zeros(2), taeda.ones(2))
    with pytest.raises(ValueError, match="parameter covariance_matrix"):
        D.MultivariateNormal(taeda.zeros(2), -taeda.eye(2))


def test_batches():
    ours = D.MultivariateNormal(taeda.zeros(4, 1, 3), taeda.eye(3).expand(2, 3, 3))
    assert (ours.batch_shape, ours.event_shape) == ((4, 2), (3,))
    assert ours.expand((5, 4, 2)).sample((6,)).shape == (6, 5, 4, 2, 3)
    assert ours.mode.shape == ours.variance.shape == (4, 2, 3)
