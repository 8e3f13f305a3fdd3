"""Products of the others, and gradients of running products, without a division."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda import func
from taeda.autograd.rules._products import gradient_of_running, of_others, of_others_in_groups


@pytest.mark.parametrize("n", [*range(1, 10), 31, 32, 33])
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_of_others(n, zeros):
    x = taeda.randn(2, n, 3, dtype=taeda.float64)
    x[0, : min(zeros, n), 1] = 0
    wanted = taeda.stack(
        [x.narrow(1, 0, k).prod(1) * x.narrow(1, k + 1, n - k - 1).prod(1) for k in range(n)], 1
    )
    taeda.testing.assert_close(of_others(x, 1), wanted)


@pytest.mark.parametrize("n", [*range(1, 10), 31, 32, 33])
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_gradients_of_running_products(n, zeros):
    x, grad = taeda.randn(2, 2, n, 3, dtype=taeda.float64)
    x[0, : min(zeros, n), 1] = 0
    wanted = taeda.zeros_like(x)
    for k in range(n):  # each result is linear in each of its factors
        one = x.clone()
        one[:, k] = 1
        wanted[:, k] = (grad * one.cumprod(1))[:, k:].sum(1)
    taeda.testing.assert_close(gradient_of_running(grad, x, x.cumprod(1), 1), wanted)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 33])
def test_products_of_others_in_groups(n):
    x = taeda.randn(2, n, 3, dtype=taeda.float64)
    group = taeda.randint(0, 3, (2, n, 3))
    made = of_others_in_groups(x, group, 1)
    for a in range(2):
        for b in range(3):
            for k in range(n):
                mine = [x[a, i, b] for i in range(n) if i != k and group[a, i, b] == group[a, k, b]]
                wanted = taeda.stack([x.new_ones(()), *mine]).prod()
                taeda.testing.assert_close(made[a, k, b], wanted)


ENTRIES = {
    "prod": lambda x: x.prod(),
    "prod along": lambda x: x.prod(-1),
    "cumprod": lambda x: x.cumprod(-1)[-1],
    "at one place": lambda x: x.new_ones(2).scatter_reduce(
        0, taeda.tensor([1, 1, 1, 1]), x, "prod"
    )[1],
    "by slices": lambda x: x.new_ones(2).index_reduce(0, taeda.tensor([1, 1, 1, 1]), x, "prod")[1],
    "with the first": lambda x: x[:1].scatter_reduce(0, taeda.tensor([0, 0, 0]), x[1:], "prod")[0],
}


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e-16, 1e-8, 1.0])
@pytest.mark.parametrize("name", ENTRIES)
def test_many_derivatives_near_0(name, size):
    """A product of four: the fourth derivative is constant, the fifth 0."""
    f = ENTRIES[name]
    slopes = [lambda x, f=f: f(x)]
    for k in range(5):
        v = taeda.eye(4, dtype=taeda.float64)[k % 4]
        step = func.grad if k % 2 else None
        last = slopes[-1]
        if step is None:
            slopes.append(lambda x, last=last, v=v: func.jvp(last, (x,), (v,))[1])
        else:
            slopes.append(lambda x, last=last, v=v: (func.grad(last)(x) * v).sum())
    x = taeda.tensor([1.0, -2.0, 0.5, 3.0], dtype=taeda.float64) * size
    found = [slope(x).item() for slope in slopes[1:]]
    wanted = [(x[1] * x[2] * x[3]).item(), (x[2] * x[3]).item(), x[3].item(), 1.0, 0.0]
    assert found == pytest.approx(wanted, rel=1e-12, abs=0)


@pytest.mark.parametrize("name", ["prod along", "cumprod"])
def test_complex_factors(name):
    x = taeda.randn(3, 5, dtype=taeda.complex128, requires_grad=True)
    f = {"prod along": lambda x: x.prod(1), "cumprod": lambda x: x.cumprod(1)}[name]
    assert taeda.autograd.gradcheck(f, (x,)) and taeda.autograd.gradgradcheck(f, (x,))


AT = taeda.tensor([1, 0, 1, 1, 0, 1])
OF_SIX = {
    "prod": lambda x: x.prod(),
    "prod along": lambda x: x.prod(-1),
    "cumprod": lambda x: x.cumprod(-1),
    "at places": lambda x: x.new_full((3,), 2).scatter_reduce(0, AT, x, "prod"),
    "at places alone": lambda x: x.new_full((3,), 2).scatter_reduce(
        0, AT, x, "prod", include_self=False
    ),
    "by slices": lambda x: x.new_full((3,), 2).index_reduce(0, AT, x, "prod"),
    "with the first": lambda x: x[:3].index_reduce(0, AT[:3], x[3:], "prod"),
    "places from the first": lambda x: x[:3].scatter_reduce(0, AT[:3] + 1, x[3:], "prod"),
}


def _gradient(f, x):
    x.requires_grad_()
    return taeda.autograd.grad(f(x).sum(), x)[0]


def _products_of_others(f, x):
    """Each result is a factor times its value where that factor is 1, or does not see it."""
    wanted, ones = taeda.zeros_like(x), taeda.ones_like(x)
    for k in range(x.numel()):
        one, none = x.clone(), ones.clone()
        one[k], none[k] = 1, 0
        wanted[k] = f(one)[f(ones) != f(none)].sum()
    return wanted


@pytest.mark.parametrize("odd", [0.0, math.inf, -math.inf, 1e-30, 1e30, 1e-7, 6e4, -9999.0])
@pytest.mark.parametrize("dtype", [taeda.float16, taeda.bfloat16, taeda.float32])
@pytest.mark.parametrize("name", OF_SIX)
def test_factors_at_the_ends_of_a_type(name, dtype, odd):
    """A product that leaves the type, or that loses its digits below it, has the products of the others."""
    f = OF_SIX[name]
    for k in range(6):
        x = taeda.tensor([0.5, 3.0, -2.0, 9.0, 1e-3, 1.5], dtype=dtype)
        x[k] = odd
        wanted = _products_of_others(f, x.double())
        known = ~wanted.isnan()  # not a difference of infinities, which depends on the order
        taeda.testing.assert_close(_gradient(f, x)[known], wanted[known].to(dtype))


@pytest.mark.parametrize("name", OF_SIX)
def test_a_nan_is_local_to_derivatives_that_see_it(name):
    f = OF_SIX[name]
    for k in range(6):
        x = taeda.tensor([0.5, 3.0, -2.0, 9.0, 1e-3, 1.5])
        x[k] = math.nan
        taeda.testing.assert_close(_gradient(f, x), _products_of_others(f, x), equal_nan=True)
