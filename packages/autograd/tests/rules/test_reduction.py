"""Gradients and second gradients of reductions, softmax, norms, losses, scans and sorting, by differences."""

from __future__ import annotations

import math

import pytest
from derivative_inputs import both_orders, uniform

import taeda
from taeda.autograd import gradcheck

WITH_ZEROS = taeda.tensor([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]], dtype=taeda.float64)

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
    "diff": lambda x: x.diff(dim=1, n=2),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_of_one_matrix(name):
    both_orders(REDUCTIONS[name], uniform(3, 4))


@pytest.mark.parametrize(
    "name",
    [
        "prod",
        "prod dim",
    ],
)
def test_products_with_zeros(name):
    both_orders(REDUCTIONS[name], WITH_ZEROS.clone().requires_grad_())


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
    ],
)
def test_complex_numbers(name):
    assert gradcheck(REDUCTIONS[name], (uniform(2, 3, complex_=True),), check_forward_ad=True)


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


@pytest.mark.parametrize("ord", [0.5, 1, 1.5, 2, 3, 4.5])
@pytest.mark.parametrize("exponent", range(-30, 31, 10))
def test_norms_of_any_size(ord, exponent):
    """The gradient of a norm does not depend on the size of its numbers."""
    numbers = taeda.tensor([1.0, -2.0, 3.0, 0.5], dtype=taeda.float64)
    x = (numbers * 10.0**exponent).float().requires_grad_()
    norm = taeda.linalg.vector_norm(numbers, ord)
    wanted = numbers.sgn() * (numbers.abs() / norm) ** (ord - 1)
    taeda.linalg.vector_norm(x, ord).backward()
    assert taeda.allclose(x.grad.double(), wanted, rtol=1e-5)


EMPTY = {
    **{n: (lambda x, d, n=n: getattr(taeda, n)(x, d)) for n in (
        "sum", "mean", "prod", "logsumexp", "nansum", "nanmean", "var", "std", "cumsum", "cumprod",
        "logcumsumexp", "softmax", "log_softmax", "sort", "norm", "var_mean", "std_mean", "cummax",
        "cummin")},
    **{f"norm {p}": (lambda x, d, p=p: taeda.linalg.vector_norm(x, p, d)) for p in (0, 0.5, 1, 2, 3)},
}  # fmt: skip


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize(("shape", "dim"), [((0,), 0), ((2, 0), 1), ((0, 2), 0), ((0, 2), 1)])
@pytest.mark.filterwarnings("ignore")
def test_a_tangent_of_nothing_has_the_shape_of_the_result(name, shape, dim):
    def f(x):
        made = EMPTY[name](x, dim)
        return made if isinstance(made, taeda.Tensor) else made[0]

    x = taeda.zeros(shape)
    value, tangent = taeda.func.jvp(f, (x,), (taeda.ones(shape),))
    assert tangent.shape == value.shape == f(x).shape
    (gradient,) = taeda.func.vjp(f, x)[1](taeda.ones_like(value))
    assert gradient.shape == x.shape
    if name == "logsumexp" or name.startswith("norm "):
        assert not tangent.any()
