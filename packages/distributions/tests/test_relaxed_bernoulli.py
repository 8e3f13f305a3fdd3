"""Continuous relaxations of the Bernoulli distribution."""

import numpy as np
import pytest
from laws import follow, t
from scipy import stats

import taeda
from taeda import distributions as D


@pytest.mark.parametrize("temperature", [0.3, 2.0])
def test_the_share_above_a_half_is_the_probability(temperature):
    taeda.manual_seed(2)
    drawn = D.RelaxedBernoulli(t(temperature), t(0.3)).rsample((3000,))
    assert (drawn > 0.5).double().mean().item() == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("temperature", [0.1, 0.7, 5.0])
def test_samples_have_the_exact_law(temperature):
    """Their log odds, times the temperature, are logistic."""

    def noise(x):
        return temperature * x - np.log(0.3 / 0.7)

    follow(
        D.relaxed_bernoulli.LogitRelaxedBernoulli(t(temperature), t(0.3)),
        {"noise": (noise, stats.logistic())},
    )


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_density(temperature):
    """That of a logistic number, through the map from noise to sample."""
    ours = D.RelaxedBernoulli(t(temperature), t(0.3))
    x = np.array([0.01, 0.3, 0.5, 0.98])
    odds = temperature * np.log(x / (1 - x)) - np.log(0.3 / 0.7)
    wanted = stats.logistic.logpdf(odds) + np.log(temperature / (x * (1 - x)))
    np.testing.assert_allclose(ours.log_prob(t(x)).numpy(), wanted, 1e-9)


def test_samples_move_with_the_parameters():
    taeda.manual_seed(1)
    logits = t([0.4] * 5).requires_grad_()
    x = D.RelaxedBernoulli(t(0.5), logits=logits).rsample()
    x.sum().backward()
    np.testing.assert_allclose(logits.grad.numpy(), (x * (1 - x) / 0.5).detach().numpy(), 1e-6)


def test_parameters_and_refusals():
    ours = D.RelaxedBernoulli(t(0.5), t(0.3))
    assert (ours.temperature.item(), ours.probs.item()) == (0.5, 0.3)
    assert ours.logits.item() == pytest.approx(np.log(0.3 / 0.7))
    assert ours.expand((3,)).sample().shape == (3,)
    with pytest.raises(ValueError, match="parameter probs"):
        D.RelaxedBernoulli(t(0.5), t(1.5))
    assert D.RelaxedBernoulli(t(0.5), t(1.5), validate_args=False).probs.item() == 1.5
    with pytest.raises(ValueError, match="within the support"):
        ours.log_prob(t(1.5))
