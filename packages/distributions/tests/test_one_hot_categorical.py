"""Categories as one-hot vectors."""

import numpy as np
import pytest
from laws import chi_square, t

import taeda
from taeda import distributions as D

SHARES = np.array([0.2, 0.5, 0.3])


def test_straight_through_passes_the_gradient_of_probabilities():
    logits = taeda.zeros(3, dtype=taeda.float64, requires_grad=True)
    sample = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
    assert sorted(sample.tolist()) == [0, 0, 1]
    sample[0].backward()
    np.testing.assert_allclose(logits.grad.numpy(), [2 / 9, -1 / 9, -1 / 9], rtol=1e-6)


def test_samples_have_the_exact_law():
    taeda.manual_seed(11)
    drawn = D.OneHotCategorical(t(SHARES)).sample((20000,)).numpy()
    chi_square(np.bincount(drawn.argmax(-1), minlength=3), SHARES)


def test_it_is_the_categorical_of_the_index():
    hot, plain = D.OneHotCategorical(t(SHARES)), D.Categorical(t(SHARES))
    every = hot.enumerate_support()
    assert every.tolist() == np.eye(3).tolist()
    taeda.testing.assert_close(hot.log_prob(every), plain.log_prob(plain.enumerate_support()))
    assert hot.entropy().item() == plain.entropy().item()
    assert hot.mode.tolist() == [0, 1, 0]
    assert hot.mean.tolist() == SHARES.tolist()
    np.testing.assert_allclose(hot.variance.numpy(), SHARES * (1 - SHARES))
    assert hot.expand((4,)).enumerate_support().shape == (3, 4, 3)


def test_refusals():
    for outside in ([1.0, 1.0, 0.0], [0.5, 0.5, 0.0]):
        with pytest.raises(ValueError, match="within the support"):
            D.OneHotCategorical(t(SHARES)).log_prob(t(outside))
    with pytest.raises(NotImplementedError, match="no reparameterised samples"):
        D.OneHotCategorical(t(SHARES)).rsample()
