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


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("zeros", [False, True])
def test_the_gradient_of_class_scores_has_the_derivative_of_the_total_that_it_was_given(
    reduction, zeros
):
    aten = taeda.ops.aten
    x = taeda.randn(4, 3, dtype=taeda.float64)
    target = taeda.tensor([2, 0, -100, 1])
    weight = taeda.zeros(3, dtype=taeda.float64) if zeros else taeda.rand(3, dtype=taeda.float64)
    total = taeda.tensor(2.5, dtype=taeda.float64)
    grad = taeda.randn(() if reduction else (4,), dtype=taeda.float64, requires_grad=True)

    def by_grad(grad):
        return aten.nll_loss_backward(grad, x, target, weight, reduction, -100, total)

    assert taeda.autograd.gradcheck(by_grad, (grad,))
    (made,) = taeda.autograd.grad(by_grad(grad).sum(), grad)
    assert made.isfinite().all()


def test_a_second_derivative_by_scores_is_0_where_the_probability_is():
    x = taeda.tensor([[3e4, 0.0]], requires_grad=True)
    loss = taeda.nn.functional.cross_entropy(x, taeda.tensor([1]), reduction="sum") * 1e38
    (first,) = taeda.autograd.grad(loss, x, create_graph=True)
    (second,) = taeda.autograd.grad((first * taeda.tensor([[1.0, 2e3]])).sum(), x)
    assert second.tolist() == [[0.0, 0.0]]
