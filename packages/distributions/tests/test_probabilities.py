"""A parameter that is given as probabilities or as log odds."""

import pytest
from laws import t

import taeda
from taeda import distributions as D

KINDS = [D.Bernoulli, D.Geometric, D.ContinuousBernoulli]


@pytest.mark.parametrize("kind", KINDS)
def test_each_gives_the_other(kind):
    p = t([0.01, 0.3, 0.9])
    given, computed = kind(p), kind(logits=p.logit())
    taeda.testing.assert_close(computed.probs, p)
    taeda.testing.assert_close(given.logits, p.logit())
    assert given.param_shape == computed.param_shape == (3,)
    assert "logits" not in kind(p).__dict__


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["probs", "logits"])
def test_gradients_reach_what_was_given(kind, name):
    given = t([0.3]).requires_grad_()
    kind(**{name: given}).log_prob(t([1.0])).sum().backward()
    assert given.grad.isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_log_odds_may_be_huge(kind):
    ours = kind(logits=t([-800.0, 800.0]))
    assert not ours.log_prob(t([0.0, 1.0])).isnan().any()


@pytest.mark.parametrize("kind", KINDS)
def test_exactly_one_is_given(kind):
    for given in ({}, {"probs": t(0.5), "logits": t(0.0)}):
        with pytest.raises(ValueError, match="`probs` or `logits` must be specified, but not both"):
            kind(**given)
