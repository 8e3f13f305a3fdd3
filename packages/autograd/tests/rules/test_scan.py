"""First and second derivatives of scans."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, uniform

import taeda
from taeda.autograd import gradcheck

WITH_ZEROS = taeda.tensor([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]], dtype=taeda.float64)


REDUCTIONS = {
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(0),
    "logcumsumexp": lambda x: x.logcumsumexp(1),
    "cummax": lambda x: x.cummax(1)[0],
    "cummin": lambda x: x.cummin(0)[0],
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_of_one_matrix(name):
    both_orders(REDUCTIONS[name], uniform(3, 4))


@pytest.mark.parametrize(
    "name",
    [
        "cumprod",
    ],
)
def test_products_with_zeros(name):
    both_orders(REDUCTIONS[name], WITH_ZEROS.clone().requires_grad_())


@pytest.mark.parametrize(
    "name",
    [
        "cumsum",
        "cumprod",
    ],
)
def test_complex_numbers(name):
    assert gradcheck(REDUCTIONS[name], (uniform(2, 3, complex_=True),), check_forward_ad=True)


def test_many_derivatives_of_logcumsumexp():
    x = taeda.tensor([[0.7, -float("inf"), 1.1], [-0.4, 0.3, 2.0]], dtype=taeda.float64)
    weights = taeda.tensor([0.3, -1.0, 0.5], dtype=taeda.float64)

    def plain(x):
        return taeda.stack([x[:, : k + 1].logsumexp(1) for k in range(3)], 1)

    def slope(f):
        return lambda x: taeda.func.jvp(
            f, (x,), (x.new_tensor([[0.5, 0.0, 0.0], [-1.0, 2.0, 1.0]]),)
        )[1]

    def back(f):
        return lambda x: taeda.func.grad(lambda z: (f(z) * weights).sum())(x)

    wanted, found = plain, lambda x: x.logcumsumexp(1)
    for step in (slope, back, slope, slope):
        wanted, found = step(wanted), step(found)
        taeda.testing.assert_close(found(x), wanted(x), rtol=1e-9, atol=1e-9)
