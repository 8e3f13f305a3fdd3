"""Jacobians, Hessians and their products, against closed forms and each other."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import functional, grad
from taeda.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

DTYPE = taeda.float64


def values(*numbers: float) -> taeda.Tensor:
    return taeda.tensor(numbers, dtype=DTYPE)


def close(found, expected):
    assert taeda.allclose(found, taeda.as_tensor(expected, dtype=DTYPE))


def wave(x, y):
    """Two outputs of two inputs."""
    return x.outer(y).sin(), (x * x).sum() * y


X, Y = values(0.5, -1.0, 2.0), values(1.5, 0.25)


# ---- Jacobians ----


@pytest.mark.parametrize(
    "mode",
    [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}],
    ids=["plain", "vectorize", "forward-mode"],
)
def test_blocks_of_a_jacobian(mode):
    (first, second) = jacobian(wave, (X, Y), **mode)
    cosine = X.outer(Y).cos()
    close(first[0], taeda.einsum("ij,j,ik->ijk", cosine, Y, taeda.eye(3, dtype=DTYPE)))
    close(first[1], taeda.einsum("ij,i,jk->ijk", cosine, X, taeda.eye(2, dtype=DTYPE)))
    close(second[0], Y.outer(2 * X))
    close(second[1], (X * X).sum() * taeda.eye(2, dtype=DTYPE))
    assert not first[0].requires_grad


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_forms_follow_the_callers(strategy):
    how = {"vectorize": True, "strategy": strategy}
    assert isinstance(jacobian(lambda x: x * 2, X, **how), taeda.Tensor)
    assert isinstance(jacobian(lambda x: x * 2, (X,), **how), tuple)
    assert isinstance(jacobian(lambda x: (x * 2,), X, **how), tuple)
    assert jacobian(lambda x: x.sum(), X, **how).shape == (3,)
    assert jacobian(lambda x: x, taeda.tensor(2.0), **how).shape == ()
    assert jacobian(lambda x: x * 2, taeda.ones(0), **how).shape == (0, 0)
    assert jacobian(lambda x: taeda.ones(2), X, **how).tolist() == [[0, 0, 0]] * 2


def test_a_jacobian_in_a_graph():
    x = X.clone().requires_grad_()
    made = jacobian(lambda x: x**3, x, create_graph=True)
    close(grad(made.sum(), x)[0], 6 * X)


# ---- products ----


def test_products_are_those_of_the_jacobian():
    whole = jacobian(wave, (X, Y))
    pull = taeda.ones(3, 2, dtype=DTYPE) * 0.5, values(1, -2)
    push = values(1, 2, 3), values(-1, 1)
    outputs, back = vjp(wave, (X, Y), pull)
    close(outputs[1], wave(X, Y)[1])
    for k in range(2):
        expected = taeda.tensordot(pull[0], whole[0][k], 2) + taeda.tensordot(
            pull[1], whole[1][k], 1
        )
        close(back[k], expected)
    outputs, forth = jvp(wave, (X, Y), push)
    close(outputs[0], wave(X, Y)[0])
    for k in range(2):
        close(forth[k], whole[k][0] @ push[0] + whole[k][1] @ push[1])


def cubes(x, y):
    return (x**3).sum() * y.sum()


def test_products_with_the_hessian():
    blocks = hessian(cubes, (X, Y))
    close(blocks[0][0], taeda.diag(6 * X) * Y.sum())
    close(blocks[0][1], (3 * X * X).unsqueeze(1).expand(3, 2))
    assert not blocks[1][1].any()
    v = values(1, 2, 3), values(-1, 1)
    for product in (hvp, vhp):
        value, made = product(cubes, (X, Y), v)
        close(value, cubes(X, Y))
        for k in range(2):
            close(made[k], blocks[k][0] @ v[0] + blocks[k][1] @ v[1])


def test_forward_over_backward():
    found = hessian(cubes, (X, Y), vectorize=True, outer_jacobian_strategy="forward-mode")
    for row, expected in zip(found, hessian(cubes, (X, Y)), strict=True):
        for block, other in zip(row, expected, strict=True):
            close(block, other)
    single = hessian(
        lambda x: (x**3).sum(), X, vectorize=True, outer_jacobian_strategy="forward-mode"
    )
    close(single, taeda.diag(6 * X))


def test_second_derivatives_in_a_graph():
    x = X.clone().requires_grad_()
    for made in (
        hessian(lambda x: (x**4).sum(), x, create_graph=True).sum(),
        hvp(lambda x: (x**4).sum(), x, taeda.ones_like(x), create_graph=True)[1].sum(),
        vhp(lambda x: (x**4).sum(), x, taeda.ones_like(x), create_graph=True)[1].sum(),
    ):
        close(grad(made, x)[0], 24 * X)


def test_products_in_a_graph_of_inputs_and_vectors():
    x, v = X.clone().requires_grad_(), values(1, 2, 3).requires_grad_()
    for product in (jvp, vjp):
        made = product(lambda x: x**2, x, v, create_graph=True)[1]
        by_x, by_v = grad(made.sum(), (x, v))
        close(by_x, 2 * v.detach())
        close(by_v, 2 * X)


def test_rules_that_take_logarithms_on_their_way():
    close(jvp(lambda x: x.logcumsumexp(0), X, values(1, 1, 1))[1], values(1, 1, 1))


def test_v_may_be_left_out_for_one_number():
    one = values(3)
    close(vjp(lambda x: (x * x).sum(), X)[1], 2 * X)
    close(jvp(lambda x: x * x, one)[1], [6])
    close(hvp(lambda x: (x**3).sum(), one)[1], [18])
    close(vhp(lambda x: (x**3).sum(), one)[1], [18])


def test_callers_tensors_are_left_alone():
    x = X.clone()
    jacobian(lambda x: x * 2, x)
    hessian(lambda x: (x * x).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode")
    assert not x.requires_grad and x.grad is None
    leaf = X.clone().requires_grad_()
    vjp(lambda x: (x * x).sum(), leaf)
    assert leaf.grad is None


def test_under_no_grad():
    with taeda.no_grad():
        close(jvp(lambda x: x * x, X, values(1, 1, 1))[1], 2 * X)
        assert jacobian(
            lambda x: x * x, X.clone().requires_grad_(), create_graph=True
        ).requires_grad


# ---- strict ----

FLAT, STRAIGHT = (lambda x: x.detach() * 2), (lambda x: x.sum())


@pytest.mark.parametrize("run", [
    lambda: vjp(FLAT, X, values(1, 1, 1), strict=True), lambda: jvp(FLAT, X, values(1, 1, 1), strict=True),
    lambda: jacobian(FLAT, X, strict=True), lambda: hessian(lambda x: FLAT(x).sum(), X, strict=True),
])  # fmt: skip
def test_strict_wants_outputs_that_depend(run):
    with pytest.raises(
        RuntimeError, match=r"Output 0 .* does not require gradients.*not allowed in strict mode"
    ):
        run()


@pytest.mark.parametrize(
    "run",
    [
        lambda: vjp(lambda x, y: x.sum(), (X, Y), strict=True),
        lambda: jacobian(lambda x, y: x.sum(), (X, Y), strict=True),
    ],
)
def test_strict_wants_every_input_to_count(run):
    with pytest.raises(
        RuntimeError, match=r"independent of input 1\. This is not allowed in strict mode"
    ):
        run()


@pytest.mark.parametrize("run", [
    lambda: hessian(STRAIGHT, X, strict=True), lambda: hvp(STRAIGHT, X, X, strict=True),
    lambda: vhp(STRAIGHT, X, X, strict=True),
])  # fmt: skip
def test_strict_wants_a_slope_that_changes(run):
    with pytest.raises(
        RuntimeError, match=r"jacobian .* input 0 is independent of the input.*strict mode"
    ):
        run()


def test_without_strict_these_are_zeros():
    assert jvp(FLAT, X, X)[1].tolist() == [0, 0, 0]
    assert hvp(STRAIGHT, X, X)[1].tolist() == [0, 0, 0]
    assert hessian(STRAIGHT, X).tolist() == [[0, 0, 0]] * 3


# ---- refusals ----


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: jacobian(lambda x: x, 3), TypeError,
            r"inputs given to jacobian must be .* type <class 'int'>"),
        (lambda: vjp(lambda x: x, (X, 3)), TypeError, "inputs at index 1 has type <class 'int'>"),
        (lambda: jacobian(lambda x: 3, X), TypeError,
            "outputs of the user-provided function .* <class 'int'>"),
        (lambda: vjp(lambda x: x, X), RuntimeError,
            "v can only be None if .* returns a single Tensor with a single element"),
        (lambda: jvp(lambda x: x.sum(), X), RuntimeError,
            "v can only be None if the input .* with a single element"),
        (lambda: vjp(lambda x: x, X, Y), RuntimeError,
            r"v has invalid size: should be .*\[3\]\) but got .*\[2\]\)"),
        (lambda: jvp(wave, (X, Y), (X, X)), RuntimeError, "Entry 1 in v has invalid size"),
        (lambda: jvp(wave, (X, Y), (X,)), RuntimeError,
            "v is a tuple of invalid length: should be 2 but got 1"),
        (lambda: hessian(lambda x: x * 2, X), RuntimeError,
            "given to hessian should contain a single element"),
        (lambda: hvp(lambda x: (x.sum(),), X, X), RuntimeError, "given to hvp should return a single Tensor"),
        (lambda: jacobian(lambda x: x, X, strategy="forward-mode"), NotImplementedError,
            "only implemented for `vectorize=True`"),
        (lambda: jacobian(lambda x: x, X, create_graph=True, vectorize=True,
            strategy="forward-mode"), NotImplementedError, "use reverse mode"),
        (lambda: jacobian(lambda x: x, X, strict=True, vectorize=True), RuntimeError,
            "not supported together"),
        (lambda: jacobian(lambda x: x, X, strategy="sideways"), AssertionError, "got 'sideways'"),
    ],
)  # fmt: skip
def test_refusals(run, error, text):
    with pytest.raises(error, match=text):
        run()


def test_the_module_holds_what_it_promises():
    assert sorted(functional.__all__) == ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
