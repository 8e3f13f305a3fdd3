"""Gradients and second gradients of reductions, softmax, norms, losses, scans and sorting, by differences."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda.autograd import gradcheck, gradgradcheck

nn = taeda._C._nn


def draw(*shape, seed=0, complex_=False, low=-2.0, high=2.0):
    taeda.manual_seed(seed)
    x = taeda.rand(shape, dtype=taeda.float64) * (high - low) + low
    if complex_:
        x = taeda.complex(x, taeda.randn(shape, dtype=taeda.float64))
    return x.requires_grad_()


WITH_ZEROS = taeda.tensor([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]], dtype=taeda.float64)
TARGET = taeda.tensor([0, 3, 1])
IGNORED = taeda.tensor([0, -100, 1])

REDUCTIONS = {
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(1, True),
    "mean of all": lambda x: x.mean(),
    "nansum": lambda x: x.nansum(1),
    "nanmean": lambda x: x.nanmean(0),
    "prod": lambda x: x.prod(),
    "prod dim": lambda x: x.prod(1, keepdim=True),
    "logsumexp": lambda x: x.logsumexp((0, 1)),
    "max": lambda x: x.max(),
    "max dim": lambda x: x.max(1)[0],
    "min dim": lambda x: x.min(0, True)[0],
    "amax": lambda x: x.amax(1),
    "amin": lambda x: x.amin((0, 1), True),
    "aminmax": lambda x: sum(taeda.aminmax(x, dim=1)),
    "median": lambda x: x.median(),
    "median dim": lambda x: x.median(1)[0],
    "kthvalue": lambda x: x.kthvalue(2, 0)[0],
    "quantile": lambda x: x.quantile(0.3, 1),
    "var": lambda x: x.var(1),
    "var correction": lambda x: x.var((0, 1), correction=0, keepdim=True),
    "std": lambda x: x.std(0),
    "var_mean": lambda x: sum(taeda.var_mean(x, 1)),
    "std_mean": lambda x: sum(taeda.std_mean(x)),
    "norm 1": lambda x: x.norm(1, 1),
    "norm 2": lambda x: x.norm(2, 0, True),
    "norm 3": lambda x: x.norm(3),
    "norm 0.5": lambda x: x.norm(0.5, 1),
    "norm inf": lambda x: x.norm(math.inf, 1),
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(1),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(0),
    "logcumsumexp": lambda x: x.logcumsumexp(1),
    "cummax": lambda x: x.cummax(1)[0],
    "cummin": lambda x: x.cummin(0)[0],
    "diff": lambda x: x.diff(dim=1, n=2),
    "sort": lambda x: x.sort(1, True)[0],
    "topk": lambda x: x.topk(2, 0)[0],
    "layer_norm": lambda x: taeda.layer_norm(x, [4]),
    "rms_norm": lambda x: taeda.rms_norm(x, [4], None, 1e-3),
    "cross_entropy": lambda x: nn.cross_entropy_loss(x, TARGET),
    "cross_entropy ignoring": lambda x: nn.cross_entropy_loss(x, IGNORED, None, 0),
    "cross_entropy smoothed": lambda x: nn.cross_entropy_loss(x, IGNORED, None, 1, -100, 0.2),
    "nll_loss": lambda x: nn.nll_loss_nd(x, IGNORED, None, 2),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_of_one_matrix(name):
    x = draw(3, 4)
    assert gradcheck(REDUCTIONS[name], (x,), check_forward_ad=True)
    assert gradgradcheck(REDUCTIONS[name], (x,), check_fwd_over_rev=True)


@pytest.mark.parametrize("name", ["prod", "prod dim", "cumprod"])
def test_products_with_zeros(name):
    x = WITH_ZEROS.clone().requires_grad_()
    assert gradcheck(REDUCTIONS[name], (x,), check_forward_ad=True)
    assert gradgradcheck(REDUCTIONS[name], (x,), check_fwd_over_rev=True)


@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "mean",
        "prod",
        "prod dim",
        "var",
        "std",
        "var_mean",
        "norm 2",
        "norm 3",
        "cumsum",
        "cumprod",
    ],
)
def test_complex_numbers(name):
    assert gradcheck(REDUCTIONS[name], (draw(2, 3, complex_=True),), check_forward_ad=True)


PARAMETERS = {
    "layer_norm": (lambda x, w, b: taeda.layer_norm(x, [2, 4], w, b), [(3, 2, 4), (2, 4), (2, 4)]),
    "rms_norm": (lambda x, w: taeda.rms_norm(x, [4], w, 1e-3), [(3, 4), (4,)]),
    "group_norm": (lambda x, w, b: taeda.group_norm(x, 2, w, b), [(2, 4, 3), (4,), (4,)]),
    "batch_norm": (
        lambda x, w, b: taeda.batch_norm(x, w, b, None, None, True, 0.1, 1e-3, False),
        [(3, 2, 4), (2,), (2,)],
    ),
    "batch_norm of columns": (
        lambda x, w, b: taeda.batch_norm(x, w, b, None, None, True, 0.1, 1e-3, False),
        [(5, 2), (2,), (2,)],
    ),
    "batch_norm in evaluation": (
        lambda x, w, b: taeda.batch_norm(
            x,
            w,
            b,
            taeda.full((2,), 0.1).double(),
            taeda.full((2,), 2.0).double(),
            False,
            0.1,
            1e-3,
            False,
        ),
        [(3, 2, 4), (2,), (2,)],
    ),
    "instance_norm": (
        lambda x, w, b: taeda.instance_norm(x, w, b, None, None, True, 0.1, 1e-3, False),
        [(2, 2, 5), (2,), (2,)],
    ),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_normalisations_with_parameters(name):
    function, shapes = PARAMETERS[name]
    inputs = tuple(draw(*shape, seed=k) for k, shape in enumerate(shapes))
    assert gradcheck(function, inputs, check_forward_ad=True)
    assert gradgradcheck(function, inputs, check_fwd_over_rev=True)


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
    x, t = draw(3, 4, low=low, high=high), draw(3, 4, seed=1, low=low, high=high)

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
    x = draw(2, 3, 4)
    t = taeda.tensor([[0, 2, -100, 1], [1, 1, 0, 2]])
    w = taeda.tensor([0.5, 1.0, 2.0], dtype=taeda.float64)
    assert gradcheck(
        lambda x: nn.cross_entropy_loss(x, t, w, reduction), (x,), check_forward_ad=True
    )
    assert gradgradcheck(
        lambda x: nn.cross_entropy_loss(x, t, w, reduction), (x,), check_fwd_over_rev=True
    )


# ---- where several elements are equal ----

TIES = [1.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda x: x.amax(), [0, 0.5, 0.5]),
        (lambda x: x.max(), [0, 0.5, 0.5]),
        (lambda x: taeda.aminmax(x).max, [0, 0.5, 0.5]),
        (lambda x: x.norm(math.inf), [0, 0.5, 0.5]),
        (lambda x: x.median(), [0, 0.5, 0.5]),
        (lambda x: x.max(0)[0], [0, 1, 0]),
        (lambda x: x.cummax(0)[0][2], [0, 0, 1]),
    ],
)
def test_who_gets_the_gradient_of_equals(call, wanted):
    x = taeda.tensor(TIES, requires_grad=True)
    call(x).backward()
    assert x.grad.tolist() == wanted


def test_kinks():
    x = taeda.zeros(3, requires_grad=True)
    (x.norm() + x.norm(1) + x.std()).backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_two_forwards_of_one_batch_norm_before_backward():
    mean, var = taeda.zeros(2), taeda.ones(2)
    x = taeda.randn(4, 2, requires_grad=True)
    first = taeda.batch_norm(x, None, None, mean, var, True, 0.1, 1e-5, False)
    second = taeda.batch_norm(x * 2, None, None, mean, var, True, 0.1, 1e-5, False)
    (first * second).sum().backward()
    assert x.grad.shape == (4, 2)


@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 4), (1, 4, 2, 2)], ids=str)
def test_group_norm_with_its_statistics(shape):
    x = draw(*shape)
    n, c, rest = shape[0], 4, math.prod(shape[2:])
    w, b = draw(4, seed=1), draw(4, seed=2)

    def results(*given):
        return taeda.native_group_norm(*given, n, c, rest, 2, 1e-3)

    assert gradcheck(results, (x, w, b), check_forward_ad=True)
    assert gradgradcheck(results, (x, w, b), check_fwd_over_rev=True)
    assert gradcheck(lambda x: results(x, w, b)[1:], (x,), check_forward_ad=True)
