"""Tangents by the general way: the rule of backward transposed, for one rule and for joint ones,
with a graph of its own.
"""

from __future__ import annotations

import pytest
from duals import tangent

import taeda
from taeda.autograd import grad, gradcheck
from taeda.autograd._calls import facts
from taeda.autograd.forward_ad import dual_level, make_dual

SQUARE = taeda.tensor([[3.0, 1.0], [0.5, 2.0]], dtype=taeda.float64)
WAYS = {
    "cumprod": ("cumprod", lambda x: x.cumprod(0)),
    "native_layer_norm": ("native_layer_norm", lambda x: taeda.layer_norm(x, (2,))),
    "prod": ("prod", lambda x: x.prod()),
    "sgn": ("sgn", lambda x: taeda.sgn(taeda.complex(x, x * x + 1))),
    "slogdet": ("_linalg_slogdet", lambda x: taeda.linalg.slogdet(x)[1]),
    "qr": ("_linalg_qr", lambda x: taeda.linalg.qr(x)[0]),
}


def slope(function, x, t, step=1e-6):
    """The derivative along a direction, by central differences."""
    return (function(x + step * t) - function(x - step * t)) / (2 * step)


@pytest.mark.parametrize("function", [w[1] for w in WAYS.values()], ids=list(WAYS))
def test_the_tangent_is_the_slope_along_the_direction(function):
    t = taeda.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=taeda.float64)
    with dual_level():
        found = tangent(function(make_dual(SQUARE, t)))
    taeda.testing.assert_close(found, slope(function, SQUARE, t), rtol=1e-6, atol=1e-7)


def test_these_rows_are_of_that_way():
    taeda.ones(1, requires_grad=True)  # the first that needs a rule loads them all
    assert {facts(row).way for row, _ in WAYS.values()} == {"transposed"}


@pytest.mark.parametrize("function", [w[1] for w in WAYS.values()], ids=list(WAYS))
def test_a_tangent_has_a_graph_to_value_and_direction(function):
    t = taeda.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=taeda.float64)

    def run(x, t):
        with dual_level():
            found = tangent(function(make_dual(x, t)))
            return taeda.view_as_real(found) if found.is_complex() else found.clone()

    assert gradcheck(run, (SQUARE.clone().requires_grad_(), t.requires_grad_()))


def test_several_results_of_which_some_have_no_gradient():
    x = taeda.tensor([3.0, 1.0, 2.0], dtype=taeda.float64)
    with dual_level():
        values, places = taeda.cummax(make_dual(x, x * 10), 0)
        assert tangent(values).tolist() == [30, 30, 30]
        assert tangent(places) is None


def test_nothing_is_recorded_without_grad():
    x = SQUARE.clone().requires_grad_()
    with dual_level(), taeda.no_grad():
        found = tangent(make_dual(x, SQUARE).cumprod(0))
    assert not found.requires_grad


def test_an_empty_tensor_has_an_empty_tangent():
    x = taeda.ones(0, 3, dtype=taeda.float64)
    with dual_level():
        assert tangent(make_dual(x, x).cumprod(1)).shape == (0, 3)


def test_second_derivatives_through_both_modes():
    x = SQUARE.clone().requires_grad_()
    with dual_level():
        dual = make_dual(x, taeda.ones_like(SQUARE))
        (found,) = grad(dual.prod(), dual)
        wanted = slope(lambda v: v.prod() / v, SQUARE, taeda.ones_like(SQUARE))
        taeda.testing.assert_close(tangent(found).detach(), wanted, rtol=1e-6, atol=1e-6)
