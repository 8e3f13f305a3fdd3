"""Transforms that go back: grad and vjp."""

from __future__ import annotations

import pytest
from transform_inputs import X, close, cube, values

from taeda.func import grad, grad_and_value, vjp


def test_grad():
    close(grad(lambda x: (x**3).sum())(X), 3 * X * X)
    close(grad(lambda x, y: (x * y).sum(), argnums=1)(X, X + 1), X)
    first, second = grad(lambda x, y: (x * y).sum(), argnums=(0, -1))(X, X + 1)
    close(first, X + 1)
    close(second, X)
    close(grad(lambda x, scale=1: (x * scale).sum())(X, scale=3), [3, 3, 3])


def test_values_beside_gradients():
    slope, value = grad_and_value(lambda x: (x * x).sum())(X)
    close(slope, 2 * X)
    assert value.item() == 5.25
    slope, (value, aux) = grad_and_value(lambda x: ((x * x).sum(), {"twice": x * 2}), has_aux=True)(
        X
    )
    close(aux["twice"], 2 * X)
    slope, aux = grad(lambda x: (x.sum(), x), has_aux=True)(X)
    assert not slope.requires_grad and not aux.requires_grad and not value.requires_grad


def test_vjp():
    (value, other), pullback = vjp(lambda x, y: (x * y, y.sum()), X, X + 1)
    close(value, X * (X + 1))
    first, second = pullback((values(1, 2, 3), values(10)[0]))
    close(first, values(1, 2, 3) * (X + 1))
    close(second, values(1, 2, 3) * X + 10)
    assert len(pullback((X, other))) == 2
    value, pullback, aux = vjp(lambda x: (x, x * 2), X, has_aux=True)
    close(aux, 2 * X)


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: grad(lambda x: x)(X), RuntimeError, "return a scalar Tensor, got tensor with 1 dims"),
        (lambda: grad(lambda x: x.sum().reshape(1))(X), RuntimeError, "got tensor with 1 dims"),
        (lambda: grad(lambda x: 3.0)(X), RuntimeError, "return a Tensor, got <class 'float'>"),
        (lambda: grad(lambda x: x.sum(), has_aux=True)(X), RuntimeError,
            r"should be a tuple: \(output, aux\)"),
        (lambda: vjp(cube, X)[1](values(1, 2)), RuntimeError, r"Mismatch in shape.*\[2\].*\[3\]"),
    ],
)  # fmt: skip
def test_refusals(run, error, text):
    with pytest.raises(error, match=text):
        run()
