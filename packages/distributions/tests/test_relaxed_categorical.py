"""Continuous relaxations of the one-hot categorical distribution."""

import numpy as np
import pytest
from laws import chi_square, follow, t
from scipy import stats

import taeda
from taeda import distributions as D

SHARES = np.array([0.2, 0.5, 0.3])


@pytest.mark.parametrize("temperature", [0.3, 2.0])
def test_relaxed_samples(temperature):
    taeda.manual_seed(2)
    p = t([0.2, 0.3, 0.5]).requires_grad_()
    x = D.RelaxedOneHotCategorical(t(temperature), p).rsample((3000,))
    assert x.sum(-1).sub(1).abs().max() < 1e-9
    shares = (x.argmax(-1).bincount() / 3000).numpy()
    np.testing.assert_allclose(shares, p.detach().numpy(), atol=0.03)
    x[:, 0].mean().backward()
    assert p.grad.isfinite().all()


def test_samples_have_the_exact_law():
    """The logarithm of two parts' ratio, times the temperature, is logistic; the largest part is
    the category.
    """
    ours = D.RelaxedOneHotCategorical(t(0.7), t(SHARES))

    def noise(x):
        return 0.7 * np.log(x[:, 0] / x[:, 1]) - np.log(SHARES[0] / SHARES[1])

    follow(ours, {"noise": (noise, stats.logistic())})
    taeda.manual_seed(11)
    chi_square(np.bincount(ours.sample((20000,)).numpy().argmax(-1)), SHARES)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_density_of_two_parts_is_the_relaxed_bernoullis(temperature):
    x = t([0.01, 0.3, 0.98])
    pair = D.RelaxedOneHotCategorical(t(temperature), t([0.3, 0.7]))
    found = pair.log_prob(taeda.stack([x, 1 - x], -1))
    wanted = D.RelaxedBernoulli(t(temperature), t(0.3)).log_prob(x)
    taeda.testing.assert_close(found, wanted)


def test_parameters_and_refusals():
    ours = D.RelaxedOneHotCategorical(t(0.5), t(SHARES)).expand((4,))
    assert ours.temperature.item() == 0.5
    assert ours.probs.shape == ours.logits.shape == (4, 3)
    with pytest.raises(ValueError, match="within the support"):
        ours.log_prob(t([0.5, 0.5, 0.5]))
    with pytest.raises(ValueError, match="parameter probs"):
        D.RelaxedOneHotCategorical(t(0.5), t([1.0, -1.0, 2.0]))
