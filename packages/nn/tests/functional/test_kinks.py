"""Derivatives at 0, at ties and at equal inputs: where pieces with kinks meet, a smooth function is smooth:
backward, forward mode and the second derivative agree with differences.
"""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import gradcheck, gradgradcheck
from taeda.nn import functional as F

ZERO = taeda.zeros(3, 4, dtype=taeda.float64)
ONES = taeda.ones(3, 4, dtype=taeda.float64)
CLASSES = taeda.tensor([0, 1, 2])
SIGNS = taeda.tensor([[1.0, -1.0, 1.0, -1.0]] * 3, dtype=taeda.float64)
#: smooth functions of one number
ACTIVATIONS = {
    "sigmoid": F.sigmoid, "tanh": F.tanh, "softplus": F.softplus, "logsigmoid": F.logsigmoid,
    "gelu": F.gelu, "gelu tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu,
    "mish": F.mish, "tanhshrink": F.tanhshrink, "softmax": lambda x: F.softmax(x, -1),
    "log_softmax": lambda x: F.log_softmax(x, -1), "logsumexp": lambda x: x.logsumexp(-1),
    "sinc": taeda.sinc, "erf": taeda.erf, "expm1": taeda.expm1, "log1p": taeda.log1p,
    "logaddexp": lambda x: taeda.logaddexp(x, x * 0.5), "i0": taeda.special.i0,
    "xlog1py": lambda x: taeda.special.xlog1py(x + 1, x), "atan2": lambda x: taeda.atan2(x, x + 1),
    "hypot of 1": lambda x: taeda.hypot(x, ONES), "layer_norm + eps": lambda x: F.layer_norm(x + SIGNS, (4,)),
}  # fmt: skip
#: smooth losses, at the logits or predictions 0 and at predictions that equal the target
LOSSES = {
    "bce with logits": lambda x: F.binary_cross_entropy_with_logits(x, ONES * 0.3),
    "bce with logits, weights": lambda x: F.binary_cross_entropy_with_logits(x, ONES, ONES * 2),
    "bce with logits, pos_weight": lambda x: F.binary_cross_entropy_with_logits(
        x, ONES, pos_weight=ONES[0] * 3
    ),
    "bce with logits, pos_weight, other class": lambda x: F.binary_cross_entropy_with_logits(
        x, ZERO, pos_weight=ONES[0] * 3
    ),
    "cross_entropy": lambda x: F.cross_entropy(x, CLASSES),
    "cross_entropy, smoothing": lambda x: F.cross_entropy(x, CLASSES, label_smoothing=0.1),
    "kl_div": lambda x: F.kl_div(F.log_softmax(x, -1), ONES / 4, reduction="batchmean"),
    "mse": lambda x: F.mse_loss(x, ZERO),
    "soft_margin": lambda x: F.soft_margin_loss(x, SIGNS),
    "multilabel_soft_margin": lambda x: F.multilabel_soft_margin_loss(x, ONES),
    "poisson_nll": lambda x: F.poisson_nll_loss(x, ONES),
    "gaussian_nll": lambda x: F.gaussian_nll_loss(x, ZERO, ONES),
}
SMOOTH = {**ACTIVATIONS, **LOSSES}
#: where the first derivative is continuous and the second is not
ONCE = {
    "huber": lambda x: F.huber_loss(x, ZERO),
    "smooth_l1": lambda x: F.smooth_l1_loss(x, ZERO),
    "elu": F.elu,
    "celu": F.celu,
    "softsign": F.softsign,
}


@pytest.mark.parametrize("name", [*SMOOTH, *ONCE])
def test_first_derivatives_at_zero(name):
    function = {**SMOOTH, **ONCE}[name]
    x = ZERO.clone().requires_grad_()
    assert gradcheck(function, x, check_forward_ad=True, atol=1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives_at_zero(name):
    x = ZERO.clone().requires_grad_()
    assert gradgradcheck(SMOOTH[name], x, atol=1e-6)


#: functions with a kink at 0: the slope that the reference documents there
SLOPES = {
    "relu": (F.relu, 0.0),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.25), 0.25),
    "prelu": (lambda x: F.prelu(x, taeda.tensor([0.25], dtype=x.dtype)), 0.25),
    "abs": (taeda.abs, 0.0),
    "l1_loss": (lambda x: F.l1_loss(x, taeda.zeros_like(x), reduction="none"), 0.0),
}


@pytest.mark.parametrize("name", SLOPES)
def test_the_slope_at_a_kink_is_the_same_in_every_mode(name):
    function, slope = SLOPES[name]
    x = taeda.zeros(3, dtype=taeda.float64, requires_grad=True)
    (grad,) = taeda.autograd.grad(function(x).sum(), x)
    assert grad.tolist() == [slope] * 3
    _, along = taeda.func.jvp(function, (x.detach(),), (taeda.ones_like(x),))
    assert along.tolist() == [slope] * 3


def test_the_weight_of_prelu_takes_part_where_its_slope_does():
    x = taeda.tensor([-2.0, 0.0, 3.0])
    weight = taeda.tensor([0.25], requires_grad=True)
    F.prelu(x, weight).sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [-2.0]
