"""Entropies of the exponential family, through the log normaliser."""

import pytest
from laws import t

import taeda
from taeda import distributions as D

MEMBERS = [
    D.Bernoulli(t([0.2, 0.6])),
    D.Exponential(t([0.5, 3.0])), D.Gamma(t([0.7, 3.0]), t([2.0, 1.0])), D.ContinuousBernoulli(t([0.2, 0.8])),
]  # fmt: skip


@pytest.mark.parametrize("ours", MEMBERS, ids=lambda d: type(d).__name__)
def test_the_entropy_is_that_in_closed_form(ours):
    found = D.exp_family.ExponentialFamily.entropy(ours)
    taeda.testing.assert_close(found.detach(), ours.entropy())


def test_its_gradient_reaches_nothing_it_should_not():
    ours = D.Gamma(t(2.0), t(1.0))
    D.exp_family.ExponentialFamily.entropy(ours)
    assert ours.rate.grad is None


def test_what_a_member_does_not_say():
    with pytest.raises(NotImplementedError, match="carrier measure"):
        # it has a formula of its own
        D.exp_family.ExponentialFamily.entropy(D.Beta(t(2.0), t(1.0)))
    empty = D.exp_family.ExponentialFamily()
    with pytest.raises(NotImplementedError, match="natural parameters"):
        empty.entropy()
    with pytest.raises(NotImplementedError, match="log normaliser"):
        empty._log_normalizer()
    with pytest.raises(NotImplementedError, match="carrier measure"):
        empty._mean_carrier_measure
