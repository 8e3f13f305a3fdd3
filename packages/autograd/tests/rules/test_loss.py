"""First and second derivatives of losses."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, uniform

import taeda
from taeda.autograd import gradcheck, gradgradcheck

nn = taeda._C._nn


TARGET = taeda.tensor([0, 3, 1])


IGNORED = taeda.tensor([0, -100, 1])


LABELS = taeda.tensor([[0, 2, -1, 1], [3, -1, 0, 0], [1, 1, 2, -1]])


REDUCTIONS = {
    "cross_entropy": lambda x: nn.cross_entropy_loss(x, TARGET),
    "cross_entropy ignoring": lambda x: nn.cross_entropy_loss(x, IGNORED, None, 0),
    "cross_entropy smoothed": lambda x: nn.cross_entropy_loss(x, IGNORED, None, 1, -100, 0.2),
    "nll_loss": lambda x: nn.nll_loss_nd(x, IGNORED, None, 2),
    "multi_margin_loss": lambda x: nn.multi_margin_loss(x, TARGET, 1, 0.9, None, 1),
    "multi_margin_loss squared": lambda x: nn.multi_margin_loss(x, TARGET, 2, 0.9, None, 1),
    "multilabel_margin_loss": lambda x: nn.multilabel_margin_loss(x, LABELS, 0),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_of_one_matrix(name):
    both_orders(REDUCTIONS[name], uniform(3, 4))


PAIRS = {
    "mse_loss": (-2, 2, ()),
    "l1_loss": (-2, 2, ()),
    "smooth_l1_loss": (-2, 2, (0.7,)),
    "huber_loss": (-2, 2, (0.6,)),
    "soft_margin_loss": (-2, 2, ()),
    "binary_cross_entropy": (0.1, 0.9, ()),
    "binary_cross_entropy_with_logits": (-2, 2, ()),
}


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("name", PAIRS)
def test_pair_losses_by_both_arguments(name, reduction):
    low, high, parameter = PAIRS[name]
    x, t = uniform(3, 4, low=low, high=high), uniform(3, 4, seed=1, low=low, high=high)

    def loss(x, t):
        if name == "binary_cross_entropy_with_logits":
            return taeda.binary_cross_entropy_with_logits(x, t, None, None, reduction)
        if name == "binary_cross_entropy":
            return nn.binary_cross_entropy(x, t, None, reduction)
        return getattr(nn, name)(x, t, reduction, *parameter)

    assert gradcheck(loss, (x, t), check_forward_ad=True)
    assert gradgradcheck(loss, (x, t), check_fwd_over_rev=True)


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_weighted_cross_entropy_over_positions(reduction):
    x = uniform(2, 3, 4)
    t = taeda.tensor([[0, 2, -100, 1], [1, 1, 0, 2]])
    w = taeda.tensor([0.5, 1.0, 2.0], dtype=taeda.float64)
    assert gradcheck(
        lambda x: nn.cross_entropy_loss(x, t, w, reduction), (x,), check_forward_ad=True
    )
    assert gradgradcheck(
        lambda x: nn.cross_entropy_loss(x, t, w, reduction), (x,), check_fwd_over_rev=True
    )
