"""Derivatives of random operators: samples do not depend on what they overwrite, dropout is a product."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import forward_ad, gradcheck

WRITES = {
    "uniform_": lambda x: x.uniform_(), "normal_": lambda x: x.normal_(),
    "exponential_": lambda x: x.exponential_(),
    "bernoulli_": lambda x: x.bernoulli_(0.5), "log_normal_": lambda x: x.log_normal_(),
    "random_": lambda x: x.random_(),
    "cauchy_": lambda x: x.cauchy_(), "geometric_": lambda x: x.geometric_(0.5),
    "bernoulli_ by tensor": lambda x: x.bernoulli_(taeda.full((3,), 0.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_what_is_overwritten_gets_no_gradient(name):
    taeda.manual_seed(0)
    x = taeda.ones(3, requires_grad=True)
    y = x * 2
    WRITES[name](y)
    (y * x).sum().backward()
    assert taeda.equal(x.grad, y.detach())


@pytest.mark.parametrize(
    "draw",
    [lambda p: taeda.bernoulli(p), lambda p: taeda.poisson(p), lambda p: taeda.normal(p, 1.0),
     lambda p: taeda.normal(0.0, p),
     lambda p: taeda.normal(p, p), lambda p: taeda.binomial(taeda.full((3,), 5.0), p)],
)  # fmt: skip
def test_parameters_get_none_or_zero(draw):
    p = taeda.full((3,), 0.5, requires_grad=True)
    draw(p).sum().backward()
    assert p.grad is None or not p.grad.any()


def test_a_gamma_sample_moves_with_its_shape():
    shape = taeda.tensor([0.7, 2.0, 5.0], dtype=taeda.float64, requires_grad=True)
    taeda.manual_seed(0)
    sample = taeda._standard_gamma(shape)
    sample.sum().backward()
    wanted = taeda._standard_gamma_grad(shape.detach(), sample.detach())
    assert taeda.equal(shape.grad, wanted) and (shape.grad > 0).all()


@pytest.mark.parametrize("train", [True, False, None])
@pytest.mark.parametrize("p", [0.0, 0.4, 1.0])
def test_dropout_is_a_product(p, train):
    x = taeda.linspace(1, 2, 12, dtype=taeda.float64, requires_grad=True)

    def run(x):
        taeda.manual_seed(1)
        return taeda.native_dropout(x, p, train)[0]

    assert gradcheck(run, (x,), check_forward_ad=True)
    y = run(x)
    (g,) = taeda.autograd.grad(y.sum(), x)
    taeda.testing.assert_close(y.detach(), g * x.detach())


def test_dropout_of_a_dual():
    x = taeda.ones(50, dtype=taeda.float64)
    with forward_ad.dual_level():
        made = taeda.native_dropout(forward_ad.make_dual(x, x * 3), 0.5, True)[0]
        value, slope = forward_ad.unpack_dual(made)
        assert taeda.equal(slope, value * 3)
