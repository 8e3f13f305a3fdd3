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
