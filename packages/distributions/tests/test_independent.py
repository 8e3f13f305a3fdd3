"""Batch dimensions that are taken for dimensions of an event."""

import numpy as np
import pytest
from laws import follow, t
from scipy import stats

from taeda import distributions as D

LOC, SCALE = np.array([[0.5, -1.0, 2.0], [0.0, 1.0, 3.0]]), np.array([1.0, 2.0, 0.5])


@pytest.mark.parametrize("dims", [0, 1, 2])
def test_densities_and_entropies_add_up(dims):
    base = D.Normal(t(LOC), t(SCALE))
    ours = D.Independent(base, dims)
    assert ours.batch_shape + ours.event_shape == (2, 3)
    x, axes = LOC + 0.5, tuple(range(2 - dims, 2))
    np.testing.assert_allclose(
        ours.log_prob(t(x)).numpy(), stats.norm(LOC, SCALE).logpdf(x).sum(axes), 1e-9
    )
    np.testing.assert_allclose(
        ours.entropy().numpy(), stats.norm(LOC, SCALE).entropy().sum(axes), 1e-9
    )
    for name in ("mean", "mode", "variance"):
        assert getattr(ours, name).tolist() == getattr(base, name).tolist()


def test_samples_have_the_exact_law():
    ours = D.Independent(D.Normal(t(LOC[0]), t(SCALE)), 1)
    follow(ours, {"last": (lambda x: x[:, 2], stats.norm(2.0, 0.5))})


def test_gradients_pass_through():
    loc = t(LOC).requires_grad_()
    D.Independent(D.Normal(loc, 1.0), 1).rsample((4,)).sum().backward()
    assert (loc.grad == 4).all()


def test_values_are_listed_only_without_events():
    coins = D.Bernoulli(t([0.2, 0.5]))
    assert D.Independent(coins, 0).enumerate_support().shape == (2, 2)
    assert not D.Independent(coins, 1).has_enumerate_support
    with pytest.raises(NotImplementedError, match="not enumerated"):
        D.Independent(coins, 1).enumerate_support()
    assert not D.Independent(coins, 1).has_rsample


def test_shapes_and_refusals():
    ours = D.Independent(D.Normal(t(LOC), 1.0), 1)
    assert ours.expand((4, 2)).sample().shape == (4, 2, 3)
    assert ours.support.check(t(LOC)).tolist() == [True, True]
    assert repr(ours).startswith("Independent(Normal(")
    with pytest.raises(ValueError, match="reinterpreted_batch_ndims"):
        D.Independent(D.Normal(0.0, 1.0), 1)
