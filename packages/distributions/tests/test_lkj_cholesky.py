"""Cholesky factors of random correlation matrices."""

import numpy as np
import pytest
from laws import follow, t
from scipy import stats

import taeda
from taeda import distributions as D


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


@pytest.mark.parametrize("dim", [2, 3, 4, 5])
@pytest.mark.parametrize("eta", [0.5, 1.0, 2.5])
def test_samples_have_the_exact_law(dim, eta):
    """Every correlation is a stretched beta number (Lewandowski, Kurowicka, Joe, 2009)."""
    shape = eta + (dim - 2) / 2
    law = stats.beta(shape, shape, loc=-1, scale=2)
    places = [(i, j) for i in range(dim) for j in range(i)]
    measures = {
        f"{i}, {j}": (lambda x, i=i, j=j: (x @ x.transpose(0, 2, 1))[:, i, j], law)
        for i, j in places
    }
    follow(D.LKJCholesky(dim, t(eta)), measures)


def test_refusals():
    with pytest.raises(ValueError, match="greater than or equal to 2"):
        D.LKJCholesky(1)
    with pytest.raises(ValueError, match="parameter concentration"):
        D.LKJCholesky(3, -1.0)
    assert D.LKJCholesky(3, -1.0, validate_args=False).concentration.item() == -1
    with pytest.raises(ValueError, match="within the support"):
        D.LKJCholesky(2, t(1.0)).log_prob(2 * taeda.eye(2, dtype=taeda.float64))
    with pytest.raises(NotImplementedError, match="no reparameterised samples"):
        D.LKJCholesky(2, t(1.0)).rsample()


def test_batches():
    ours = D.LKJCholesky(4, t([1.0, 2.0])).expand((3, 2))
    assert (ours.batch_shape, ours.event_shape, ours.sample().shape) == (
        (3, 2),
        (4, 4),
        (3, 2, 4, 4),
    )
