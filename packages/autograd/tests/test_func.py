"""Transforms: values against closed forms, nesting in every order, graphs of callers, refusals."""

from __future__ import annotations

import subprocess
import sys

import pytest

import taeda
import taeda.autograd.forward_ad as forward_ad
from taeda import func
from taeda.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp

DTYPE = taeda.float64


def values(*numbers):
    return taeda.tensor(numbers, dtype=DTYPE)


def close(found, expected):
    assert taeda.allclose(found, taeda.as_tensor(expected, dtype=DTYPE))


X = values(0.5, -1.0, 2.0)


# ---- one transform ----


def test_grad():
    close(grad(lambda x: (x**3).sum())(X), 3 * X * X)
    close(grad(lambda x, y: (x * y).sum(), argnums=1)(X, X + 1), X)
    first, second = grad(lambda x, y: (x * y).sum(), argnums=(0, -1))(X, X + 1)
    close(first, X + 1)
    close(second, X)
    close(grad(lambda x, scale=1: (x * scale).sum())(X, scale=3), [3, 3, 3])


def test_trees_of_tensors():
    made = grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": X, "b": [X + 1, X]})
    assert list(made) == ["a", "b"]
    close(made["a"], X + 1)
    close(made["b"][0], X)
    close(made["b"][1], [0, 0, 0])


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


def test_jvp():
    value, slope = jvp(lambda x, y: {"p": x * y}, (X, X + 1), (values(1, 0, 0), values(0, 1, 0)))
    close(value["p"], X * (X + 1))
    close(slope["p"], [X[0] + 1, X[1], 0])
    assert jvp(lambda x: taeda.ones(2), (X,), (X,))[1].tolist() == [0, 0]
    assert len(jvp(lambda x: (x, x * 2), (X,), (X,), has_aux=True)) == 3


def test_linearize_runs_the_function_once():
    calls = []

    def watched(x, y):
        calls.append(1)
        return x.sin() * y, y

    (value, _), push = linearize(watched, X, X)
    for t in (values(1, 0, 0), values(1, 2, 3)):
        slope, second = push(t, t * 2)
        close(slope, X.cos() * X * t + X.sin() * 2 * t)
        close(second, 2 * t)
    assert calls == [1]
    close(value, X.sin() * X)


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


# ---- nesting ----


def cube(x):
    return x**3


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


def test_levels_are_not_confused():
    """d/dx (x · d/dy (x + y)) at y = 1: the inner transform must not differentiate the outer variable."""
    x = values(3)[0]
    one = values(1)[0]

    def inner_grad(x):
        return x * grad(lambda y: x + y)(one)

    def inner_jvp(x):
        return x * jvp(lambda y: x + y, (one,), (one,))[1]

    for function in (inner_grad, inner_jvp):
        assert grad(function)(x).item() == 1
        assert jvp(function, (x,), (one,))[1].item() == 1
        assert jacfwd(function)(x).item() == 1


def test_an_inner_function_of_both_variables():
    x, y = values(3)[0], values(2)[0]

    def mixed(x):
        return jvp(lambda y: x**2 * y**3, (y,), (values(1)[0],))[1]  # 3 x² y²

    assert grad(mixed)(x).item() == 72
    assert jvp(mixed, (x,), (values(1)[0],))[1].item() == 72
    assert linearize(mixed, x)[1](values(1)[0]).item() == 72


def test_transforms_inside_a_dual_level():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, values(1, 2, 3))
        slope = grad(lambda x: cube(x).sum())(dual)
        close(forward_ad.unpack_dual(slope).tangent, 6 * X * values(1, 2, 3))


# ---- graphs of the callers ----


def test_results_have_no_graph_of_the_transforms_own():
    for made in (
        grad(lambda x: (x * x).sum())(X), jacrev(cube)(X), jacfwd(cube)(X), vjp(cube, X)[0], vjp(cube, X)[1](X)[0],
        jvp(cube, (X,), (X,))[1], linearize(cube, X)[0], linearize(cube, X)[1](X),
    ):  # fmt: skip
        assert not made.requires_grad


def test_backward_goes_through():
    p = X.clone().requires_grad_()
    for made in (
        grad(lambda x: cube(x).sum())(p), jvp(cube, (p,), (values(1, 1, 1),))[1], vjp(cube, p)[1](values(1, 1, 1))[0],
        linearize(cube, p)[1](values(1, 1, 1)), jacrev(cube)(p).sum(0), jacfwd(cube)(p).sum(0),
    ):  # fmt: skip
        (slope,) = taeda.autograd.grad(made.sum(), p)
        close(slope, 6 * p.detach())


def test_captured_tensors_keep_their_graph():
    p = X.clone().requires_grad_()
    made = grad(lambda x: (x * x * p).sum())(X)
    (slope,) = taeda.autograd.grad(made.sum(), p)
    close(slope, 2 * X)
    assert p.grad is None


def test_no_grad_outside_does_not_reach_in_but_holds_for_results():
    p = X.clone().requires_grad_()
    with taeda.no_grad():
        made = grad(lambda x: (x * x).sum())(p)
    close(made, 2 * X)
    assert not made.requires_grad


def test_no_grad_inside_is_kept():
    def held(x):
        with taeda.no_grad():
            constant = x * x
        return (x * constant).sum()

    close(grad(held)(X), X * X)


def test_callers_tensors_are_left_alone():
    x = X.clone()
    grad(lambda x: (x * x).sum())(x)
    jacrev(cube)(x)
    assert not x.requires_grad and x.grad is None


# ---- modules ----


def test_functional_call():
    nn = pytest.importorskip("taeda.nn", reason="functional_call calls a module of taeda-nn")
    module = nn.Linear(2, 1).double()
    weight, bias = taeda.ones(1, 2, dtype=DTYPE), taeda.zeros(1, dtype=DTYPE)
    x = values(1, 2)

    def loss(named):
        return func.functional_call(module, named, (x,)).sum()

    slopes = grad(loss)({"weight": weight, "bias": bias})
    close(slopes["weight"], [[1, 2]])
    close(slopes["bias"], [1])
    assert func.functional_call(module, [{"weight": weight}, {"bias": bias}], x).item() == 3
    with pytest.raises(ValueError, match="weight appears in multiple dictionaries"):
        func.functional_call(module, [{"weight": weight}, {"weight": bias}], x)
    with pytest.raises(ValueError, match="to be a dict, or a list/tuple of dicts"):
        func.functional_call(module, 3, x)


def test_stack_module_state():
    nn = pytest.importorskip("taeda.nn", reason="it stacks modules of taeda-nn")
    models = [nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)) for _ in range(4)]
    parameters, buffers = func.stack_module_state(models)
    assert parameters["0.weight"].shape == (4, 3, 2) and parameters["0.weight"].is_leaf
    assert parameters["0.weight"].requires_grad
    assert taeda.equal(parameters["0.bias"][2], models[2][0].bias)
    assert buffers["1.running_mean"].shape == (4, 3) and not buffers["1.running_mean"].requires_grad
    models[1].eval()
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        func.stack_module_state(models)
    with pytest.raises(RuntimeError, match="same class"):
        func.stack_module_state([nn.ReLU(), nn.Tanh()])
    with pytest.raises(RuntimeError, match="at least one model"):
        func.stack_module_state([])
    mixed = [nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)]
    with pytest.raises(
        RuntimeError, match=r"weight from each model to have the same \.requires_grad"
    ):
        func.stack_module_state(mixed)


def test_batch_norms_without_running_statistics():
    nn = pytest.importorskip("taeda.nn", reason="it changes modules of taeda-nn")
    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.BatchNorm1d(3))).eval()
    assert func.replace_all_batch_norm_modules_(model) is model
    assert list(model.buffers()) == [] and not model[1][0].track_running_stats
    made = model(taeda.rand(8, 2))
    assert taeda.allclose(made.mean(0), taeda.zeros(3), atol=1e-5)


# ---- refusals ----


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: grad(lambda x: x)(X), RuntimeError, "return a scalar Tensor, got tensor with 1 dims"),
        (lambda: grad(lambda x: x.sum().reshape(1))(X), RuntimeError, "got tensor with 1 dims"),
        (lambda: grad(lambda x: 3.0)(X), RuntimeError, "return a Tensor, got <class 'float'>"),
        (lambda: grad(lambda x: x.sum(), has_aux=True)(X), RuntimeError, r"should be a tuple: \(output, aux\)"),
        (lambda: grad(lambda x: (x.sum(), 1), has_aux=True)(X), RuntimeError, "only tensors, got unsupported type <class 'int'>"),
        (lambda: grad(lambda x: x.sum())(X.long()), RuntimeError, "floating point and complex dtype .* got taeda.int64"),
        (lambda: grad(lambda x: x.sum())(3.0), ValueError, "must be Tensor, got <class 'float'>"),
        (lambda: grad(lambda x: x.sum(), argnums=2)(X), RuntimeError, "Got argnum=2, but only 1 positional inputs"),
        (lambda: grad(lambda x: x.sum(), argnums="a")(X), RuntimeError, "argnums must be int or Tuple"),
        (lambda: grad(lambda x: x.sum(), argnums=(0, 0))(X), RuntimeError, "argnums must be different"),
        (lambda: grad(lambda x: x.mul_(2).sum())(X), RuntimeError, "leaf Variable that requires grad"),
        (lambda: grad(lambda x: x.mul_(2).sum())(X.clone().requires_grad_() * 1), RuntimeError, "wrote in place into one of its inputs"),
        (lambda: vjp(lambda x: 3, X), RuntimeError, "return only tensors, got unsupported type <class 'int'>"),
        (lambda: vjp(cube, X)[1]((X, X)), RuntimeError, "pytree structure of cotangents"),
        (lambda: vjp(cube, X)[1](values(1, 2)), RuntimeError, r"Mismatch in shape.*\[2\].*\[3\]"),
        (lambda: jvp(cube, X, X), RuntimeError, "Expected primals to be a tuple"),
        (lambda: jvp(cube, (X,), (X, X)), RuntimeError, "same python structure"),
        (lambda: jvp(cube, (X,), (values(1, 2),)), RuntimeError, "different size"),
        (lambda: jvp(lambda x: 3, (X,), (X,)), RuntimeError, "return only tensors"),
        (lambda: jvp(lambda x: taeda.ones(2), (X,), (X,), strict=True), RuntimeError, "output of f is independent of the inputs"),
        (lambda: linearize(cube, X)[1](values(1, 2)), RuntimeError, r"tangent:0 with shape .*\[2\].*\[3\]"),
        (lambda: linearize(cube, X)[1](X, X), RuntimeError, "same python structure"),
        (lambda: jacrev(cube, chunk_size=0), ValueError, "`chunk_size` should be greater than 0"),
        (lambda: jacfwd(cube, randomness="never"), RuntimeError, "Got never"),
    ],
)  # fmt: skip
def test_refusals(run, error, text):
    with pytest.raises(error, match=text):
        run()


def test_a_failing_function_leaves_no_level_open():
    def fail(x):
        raise KeyError("inside")

    for transform in (grad, jacrev, jacfwd):
        with pytest.raises(KeyError, match="inside"):
            transform(fail)(X)
    assert taeda.is_grad_enabled()
    with forward_ad.dual_level():
        pass


def test_importing_taeda_does_not_load_it():
    code = "import sys, taeda; assert 'taeda.func' not in sys.modules; taeda.func.grad"
    subprocess.run([sys.executable, "-c", code], check=True)
