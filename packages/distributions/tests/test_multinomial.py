"""The multinomial distribution."""

import numpy as np
import pytest
from laws import chi_square, t
from scipy import stats

import taeda
from taeda import distributions as D

SHARES = np.array([0.2, 0.5, 0.3])


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


def test_samples_have_the_exact_law():
    taeda.manual_seed(11)
    drawn = D.Multinomial(6, t(SHARES)).sample((20000,)).numpy()
    seen = np.bincount(drawn[:, 1].astype(int), minlength=7)
    chi_square(seen, stats.binom(6, SHARES[1]).pmf(np.arange(7)))


def test_moments():
    ours, theirs = D.Multinomial(6, t(SHARES)), stats.multinomial(6, SHARES)
    np.testing.assert_allclose(ours.mean.numpy(), 6 * SHARES)
    np.testing.assert_allclose(ours.variance.numpy(), np.diag(theirs.cov()))
    assert ours.expand((2,)).log_prob(t([1.0, 2.0, 3.0])).shape == (2,)


def test_what_cannot_come_up_is_no_nan():
    ours = D.Multinomial(2, logits=t([0.0, -np.inf]), validate_args=False)
    assert ours.log_prob(t([2.0, 0.0])).item() == 0


def test_refusals():
    with pytest.raises(NotImplementedError, match="one int"):
        D.Multinomial(taeda.tensor(3), t(SHARES))
    for outside in ([7.0, 0.0, 0.0], [-1.0, 4.0, 3.0]):
        with pytest.raises(ValueError, match="within the support"):
            D.Multinomial(6, t(SHARES)).log_prob(t(outside))


def test_the_entropy_of_many_draws():
    """Stirling's approximation of a multinomial: log n times half of the categories less one."""
    probs, n = taeda.tensor([0.3, 0.1, 0.6]), 3000
    made = D.Multinomial(n, probs).entropy()
    wanted = taeda.log(2 * taeda.pi * taeda.e * taeda.tensor(float(n))) + probs.log().sum() / 2
    assert made.item() == pytest.approx(wanted.item(), abs=2e-3)
