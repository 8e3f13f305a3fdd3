"""Categories as indices."""

import numpy as np
import pytest
from laws import chi_square, t
from scipy import stats

import taeda
from taeda import distributions as D

SHARES = np.array([0.2, 0.5, 0.3])


def test_categories():
    p = t([[0.2, 0.3, 0.5], [1.0, 0.0, 1.0]])
    ours = D.Categorical(p)
    assert ours.log_prob(taeda.tensor([2, 0])).exp().tolist() == pytest.approx([0.5, 0.5])
    assert ours.entropy()[1].item() == pytest.approx(np.log(2))
    taeda.manual_seed(2)
    drawn = ours.sample((20000,))
    assert drawn.shape == (20000, 2)
    assert not (drawn[:, 1] == 1).any()
    np.testing.assert_allclose(drawn[:, 0].bincount().numpy() / 20000, p[0].numpy(), atol=0.015)
    hot = D.OneHotCategorical(p)
    assert hot.sample((4,)).sum(-1).eq(1).all()
    assert hot.enumerate_support(expand=False).shape == (3, 1, 3)


def test_samples_have_the_exact_law():
    taeda.manual_seed(11)
    drawn = D.Categorical(t(SHARES)).sample((20000,)).numpy()
    chi_square(np.bincount(drawn, minlength=3), SHARES)


def test_log_odds_give_the_same():
    p, logits = t(SHARES), t(np.log(SHARES) + 700.0)
    x = taeda.tensor([0, 1, 2])
    one, other = D.Categorical(p), D.Categorical(logits=logits)
    taeda.testing.assert_close(one.log_prob(x), other.log_prob(x))
    taeda.testing.assert_close(one.entropy(), other.entropy())
    assert one.entropy().item() == pytest.approx(stats.entropy(SHARES))
    assert one.mode.item() == other.mode.item() == 1
    assert one.mean.isnan()
    assert one.variance.isnan()
    assert one.param_shape == (3,)


def test_all_values():
    ours = D.Categorical(t([SHARES, SHARES]))
    every = ours.enumerate_support()
    assert every.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert ours.enumerate_support(expand=False).shape == (3, 1)
    np.testing.assert_allclose(ours.log_prob(every).exp().sum(0).numpy(), 1)


def test_gradient_of_the_density():
    logits = t([0.3, -1.0, 2.0]).requires_grad_()
    D.Categorical(logits=logits).log_prob(taeda.tensor(1)).backward()
    wanted = np.eye(3)[1] - np.exp(logits.detach().numpy()) / np.exp(logits.detach().numpy()).sum()
    np.testing.assert_allclose(logits.grad.numpy(), wanted, 1e-9)


def test_refusals():
    with pytest.raises(ValueError, match="`probs` parameter must be at least one-dimensional"):
        D.Categorical(taeda.tensor(0.5))
    with pytest.raises(ValueError, match="but not both"):
        D.Categorical(t(SHARES), t(SHARES))
    with pytest.raises(ValueError, match="parameter probs"):
        D.Categorical(t([0.5, -0.5, 1.0]))
    for outside in (3.0, -1.0, 0.5):
        with pytest.raises(ValueError, match="within the support"):
            D.Categorical(t(SHARES)).log_prob(t(outside))
