"""First and second derivatives of special functions."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, normal

import taeda

CALLS = {
    "i0": (taeda.i0, (4,)),
    "i0e": (taeda.special.i0e, (4,)),
    "i1": (taeda.special.i1, (4,)),
    "i1e": (taeda.special.i1e, (4,)),
    "ndtr": (taeda.special.ndtr, (4,)),
    "log_ndtr": (lambda x: taeda.special.log_ndtr(x * 3), (4,)),
    "ndtri": (lambda x: taeda.special.ndtri(x.sigmoid()), (4,)),
    "erfcx": (taeda.special.erfcx, (4,)),
    "entr": (lambda x: taeda.special.entr(x.exp()), (4,)),
    "xlog1py": (lambda x, y: taeda.special.xlog1py(x, y * y), (4,), (4,)),
    "zeta": (lambda q: taeda.special.zeta(2.5, q * q + 1), (4,)),
    "igamma": (lambda x: taeda.igamma(taeda.full((4,), 1.5).double(), x.exp()), (4,)),
    "igammac": (lambda x: taeda.igammac(taeda.full((4,), 1.5).double(), x.exp()), (4,)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name):
    function, *shapes = CALLS[name]
    both_orders(function, *(normal(*s, seed=i) for i, s in enumerate(shapes)))


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_no_derivative_in_the_shape_of_a_gamma_distribution(name):
    a = taeda.ones(2, requires_grad=True)
    made = getattr(taeda, name)(a, taeda.ones(2)).sum()
    with pytest.raises(NotImplementedError, match=f"derivative of {name} in its first argument"):
        made.backward()


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
@pytest.mark.parametrize("name", ["i0", "i1"])
def test_derivatives_beyond_the_largest_number_are_infinite(name, dtype):
    x = taeda.tensor([-1000.0, 1000.0], dtype=dtype, requires_grad=True)
    (slope,) = taeda.autograd.grad(getattr(taeda.special, name)(x).sum(), x, create_graph=True)
    (second,) = taeda.autograd.grad(slope.sum(), x)
    even = [taeda.inf, taeda.inf]
    odd = [-taeda.inf, taeda.inf]
    assert slope.tolist() == (odd if name == "i0" else even)
    assert second.tolist() == (even if name == "i0" else odd)


POLYNOMIALS = [name for name in dir(taeda.special) if "_polynomial_" in name and "grad" not in name]
PLACES = [-1.0, -0.7, -0.2, 0.0, 0.3, 0.5, 1.0, 1.3]


def test_all_polynomials_are_here():
    assert len(POLYNOMIALS) == 12


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_derivatives_of_polynomials(name):
    """At the ends, too, where quotients by 1 - x^2 would be 0 / 0; orders in a tensor broadcast."""
    f = getattr(taeda.special, name)
    for n in (-1, 0, 1, 2, 7, 3.7, taeda.tensor([[2], [9]])):
        x = taeda.tensor(PLACES, dtype=taeda.float64, requires_grad=True)
        assert taeda.autograd.gradcheck(lambda x, n=n: f(x, n), (x,))
        assert taeda.autograd.gradgradcheck(lambda x, n=n: f(x, n), (x,))


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_third_derivatives_of_polynomials(name):
    """Those of a cubic are constant, and the fourth is 0."""
    x = taeda.tensor(PLACES, dtype=taeda.float64, requires_grad=True)
    y = getattr(taeda.special, name)(x, 3)
    for _ in range(3):
        (y,) = taeda.autograd.grad(y.sum(), x, create_graph=True)
    assert y.detach().std() < 1e-12 and y[0].item() != 0
    assert taeda.autograd.grad(y.sum(), x)[0].abs().max() == 0


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_no_derivative_in_the_order_of_a_polynomial(name):
    """It is cut to an integer; PyTorch refuses it in the same type."""
    n = taeda.tensor([2.0, 3.0], requires_grad=True)
    made = getattr(taeda.special, name)(taeda.ones(2), n).sum()
    with pytest.raises(NotImplementedError, match=f"derivative of {name} in its second argument"):
        made.backward()


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_slopes_of_polynomials_of_any_order(name):
    """Of orders that are none they are NaN, below 0 they are 0, and the first kind's have no bound."""
    f = getattr(taeda.special, name)
    for n in (20001, 1e18, 1e300, float("nan"), float("inf"), -float("inf")):
        x = taeda.tensor([0.3, 1.0], dtype=taeda.float64, requires_grad=True)
        (slope,) = taeda.autograd.grad(f(x, n).sum(), x)
        if n == 20001 and name.endswith("chebyshev_polynomial_t"):
            assert slope[1].item() == n * n * (2 if name.startswith("shifted") else 1)
        elif n < 0:
            assert slope.tolist() == [0, 0]
            x.grad = None
            f(x, taeda.tensor(n)).sum().backward()
            assert x.grad.tolist() == [0, 0]
        elif n > 1e19 or n != n:
            assert slope.isnan().all()


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_in_a_batch_and_forward(name):
    f = getattr(taeda.special, name)
    x = taeda.linspace(-1, 1, 6, dtype=taeda.float64)
    n = taeda.tensor([0, 1, 2, 3, 5, 9])
    assert taeda.equal(taeda.func.vmap(f)(x, n), f(x, n))
    each = taeda.func.vmap(taeda.func.grad(f))(x, n)
    _, tangent = taeda.func.jvp(lambda x: f(x, n), (x,), (taeda.ones_like(x),))
    taeda.testing.assert_close(each, tangent)
