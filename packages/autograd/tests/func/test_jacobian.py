"""Jacobians and Hessians, and their nesting."""

from __future__ import annotations

import pytest
from transform_inputs import DTYPE, X, close, cube, values

import taeda
from taeda.func import grad, hessian, jacfwd, jacrev


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobians(jacobian):
    close(jacobian(lambda x: x.sin())(X), taeda.diag(X.cos()))
    (a, b), (c, d) = jacobian(lambda x, y: (x.outer(y), y * 2), argnums=(0, 1))(X, values(1, 2))
    close(a, taeda.einsum("ik,j->ijk", taeda.eye(3, dtype=DTYPE), values(1, 2)))
    close(b, taeda.einsum("i,jk->ijk", X, taeda.eye(2, dtype=DTYPE)))
    assert not c.any() and c.shape == (2, 3)
    close(d, 2 * taeda.eye(2, dtype=DTYPE))
    made, aux = jacobian(lambda x: (x.sum(), x), has_aux=True)(X)
    close(made, [1, 1, 1])
    close(aux, X)
    tree = jacobian(lambda t: {"out": t["in"] * 2})({"in": X})
    close(tree["out"]["in"], 2 * taeda.eye(3, dtype=DTYPE))
    assert jacobian(lambda x: x)(taeda.ones(0)).shape == (0, 0)
    assert jacobian(lambda x: x.sum())(taeda.ones(0)).shape == (0,)


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
def test_jacobians_nest_in_every_order(outer, inner):
    close(outer(inner(cube))(values(2)[0]), 12)
    expected = taeda.zeros(3, 3, 3, dtype=DTYPE)
    for k in range(3):
        expected[k, k, k] = 6 * X[k]
    close(outer(inner(cube))(X), expected)


def test_three_deep():
    x = values(2)[0]
    assert grad(grad(grad(lambda x: x**4)))(x).item() == 48
    assert jacfwd(jacfwd(jacfwd(lambda x: x**4)))(x).item() == 48
    assert grad(jacfwd(grad(lambda x: x**4)))(x).item() == 48
    close(hessian(lambda x: (x.sin() * x).sum())(X), taeda.diag(2 * X.cos() - X * X.sin()))


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: jacrev(cube, chunk_size=0), ValueError, "`chunk_size` should be greater than 0"),
        (lambda: jacfwd(cube, randomness="never"), RuntimeError, "Got never"),
    ],
)
def test_refusals(run, error, text):
    with pytest.raises(error, match=text):
        run()


def written(x):
    out = taeda.zeros(3, dtype=DTYPE)
    out[0] = x[1] * x[2]
    out[1:].copy_(x[:2].sin())
    out.mul_(x)
    return out


def returned(x):
    rows = [x[1] * x[2], *x[:2].sin()]
    return taeda.stack(rows) * x


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
def test_a_function_writes_to_a_tensor_of_its_own(inner, outer):
    close(inner(written)(X), inner(returned)(X))
    close(outer(inner(written))(X), outer(inner(returned))(X))


def test_a_write_to_a_tensor_from_outside_is_refused_where_it_would_happen_again():
    held = taeda.ones(3, dtype=DTYPE)

    def writes(x):
        return held.mul_(x) * 1

    with pytest.raises(RuntimeError, match="self is the same for all samples"):
        jacfwd(writes)(X)
