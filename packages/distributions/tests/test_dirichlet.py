"""The Dirichlet distribution."""

import numpy as np
import pytest
from laws import follow, t
from scipy import stats

import taeda
from taeda import distributions as D


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


@pytest.mark.parametrize("shapes", [[0.5, 1.0, 2.5], [50.0, 10.0, 200.0]])
def test_samples_have_the_exact_law(shapes):
    """Each part, and the sum of two, is a beta number."""
    total = sum(shapes)
    laws = {
        f"{i}": (lambda x, i=i: x[:, i], stats.beta(a, total - a)) for i, a in enumerate(shapes)
    }
    pair = shapes[0] + shapes[1]
    laws["sum"] = (lambda x: x[:, 0] + x[:, 1], stats.beta(pair, total - pair))
    follow(D.Dirichlet(t(shapes)), laws)


def test_samples_move_with_the_parameters():
    """The mean of a sample's gradient is the gradient of the mean."""
    taeda.manual_seed(5)
    a = t([2.0, 1.0, 4.0]).requires_grad_()
    D.Dirichlet(a).rsample((20000,))[:, 0].mean().backward()
    wanted = [5 / 49, -2 / 49, -2 / 49]  # of a0 / (a0 + a1 + a2)
    np.testing.assert_allclose(a.grad.numpy(), wanted, atol=3e-3)


def test_mode():
    assert D.Dirichlet(t([2.0, 3.0, 1.0])).mode.tolist() == pytest.approx([1 / 3, 2 / 3, 0])
    assert D.Dirichlet(t([0.5, 0.9])).mode.sum().item() == 1


def test_refusals():
    with pytest.raises(ValueError, match="at least one-dimensional"):
        D.Dirichlet(taeda.tensor(1.0))
    with pytest.raises(ValueError, match="parameter concentration"):
        D.Dirichlet(t([1.0, 0.0]))
    for outside in ([0.5, 0.6], [-0.1, 1.1]):
        with pytest.raises(ValueError, match="within the support"):
            D.Dirichlet(t([1.0, 2.0])).log_prob(t(outside))
