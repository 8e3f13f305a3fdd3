"""The logistic-normal distribution."""

import numpy as np
import pytest
from laws import follow, t
from scipy import special, stats

import taeda
from taeda import distributions as D

LOC, SCALE = np.array([0.5, -1.0]), np.array([0.7, 1.5])


def sticks(x):
    """The normals behind probabilities: what is broken off the rest, against what then remains."""
    rest = 1 - np.cumsum(x[..., :-1], -1)
    return np.log(x[..., :-1] / rest) + np.log([2.0, 1.0])


def test_samples_have_the_exact_law():
    laws = {
        str(k): (lambda x, k=k: sticks(x)[:, k], stats.norm(LOC[k], SCALE[k])) for k in range(2)
    }
    follow(D.LogisticNormal(t(LOC), t(SCALE)), laws)


def test_density():
    """Normal densities of the sticks, by the determinant of their derivatives."""
    x = np.array([0.2, 0.5, 0.3])
    found = D.LogisticNormal(t(LOC), t(SCALE)).log_prob(t(x)).item()
    normal = stats.norm(LOC, SCALE).logpdf(sticks(x)).sum()
    assert found == pytest.approx(normal - np.log(x).sum(), rel=1e-12)


def test_two_parts_are_the_logistic_of_one_normal():
    ours = D.LogisticNormal(t(0.3), t(2.0))
    assert ours.event_shape == (2,)
    p = np.array([0.01, 0.4, 0.97])
    found = ours.log_prob(taeda.tensor(np.stack([p, 1 - p], -1))).numpy()
    wanted = stats.norm(0.3, 2.0).logpdf(special.logit(p)) - np.log(p * (1 - p))
    np.testing.assert_allclose(found, wanted, 1e-10)


def test_parameters_expansion_and_gradients():
    loc = t(LOC).requires_grad_()
    ours = D.LogisticNormal(loc, t(SCALE)).expand((4,))
    assert (ours.batch_shape, ours.event_shape) == ((4,), (3,))
    assert ours.loc.shape == ours.scale.shape == (4, 2)
    ours.rsample()[:, 0].sum().backward()
    assert loc.grad[0] > 0
    assert loc.grad[1] == 0  # what is broken off second does not move the first part


def test_refusals():
    with pytest.raises(ValueError, match="within the support"):
        D.LogisticNormal(t(LOC), t(SCALE)).log_prob(t([0.5, 0.5, 0.5]))
    with pytest.raises(ValueError, match="parameter scale"):
        D.LogisticNormal(t(LOC), t([-1.0, 1.0]))
