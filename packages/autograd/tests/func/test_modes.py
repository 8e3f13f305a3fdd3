"""Every transform under every mode: derivatives are values, whatever the caller has switched off."""

from __future__ import annotations

import contextlib

import pytest

import taeda
from taeda import func
from taeda.autograd.forward_ad import dual_level

X, V = taeda.tensor([0.5, 1.0]), taeda.tensor([1.0, 2.0])
WEIGHTS = {"w": taeda.tensor([2.0, 3.0])}


class Inside(taeda.autograd.Function):
    """A Function whose forward takes a derivative."""

    @staticmethod
    def forward(ctx, x, transform):
        return transform(x)

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def total(x):
    return x.sin().sum()


TRANSFORMS = {
    "grad": lambda x: func.grad(total)(x),
    "grad_and_value": lambda x: func.grad_and_value(total)(x)[0],
    "grad of a dict": lambda x: func.grad(lambda p: (p["w"] * x).sum())(WEIGHTS)["w"],
    "grad with a captured tensor": lambda x: func.grad(lambda z: (z * V * x).sum())(x),
    "vjp": lambda x: func.vjp(taeda.sin, x)[1](V)[0],
    "jvp": lambda x: func.jvp(taeda.sin, (x,), (V,))[1],
    "linearize": lambda x: func.linearize(taeda.sin, x)[1](V),
    "jacrev": lambda x: func.jacrev(taeda.sin)(x),
    "jacfwd": lambda x: func.jacfwd(taeda.sin)(x),
    "hessian": lambda x: func.hessian(total)(x),
    "jacrev of jacrev": lambda x: func.jacrev(func.jacrev(total))(x),
    "jacfwd of jacfwd": lambda x: func.jacfwd(func.jacfwd(total))(x),
    "grad of grad": lambda x: func.grad(lambda z: func.grad(total)(z).sum())(x),
    "vmap of grad": lambda x: func.vmap(func.grad(taeda.sin))(x),
    "vmap of jvp": lambda x: func.vmap(lambda z, v: func.jvp(taeda.sin, (z,), (v,))[1])(x, V),
    "jvp of grad": lambda x: func.jvp(func.grad(total), (x,), (V,))[1],
}


def within_function(transform, x):
    return Inside.apply(x, transform)


def with_inference_inputs(transform, x):
    with taeda.inference_mode():
        return transform(x * 1)


CAPTURES = {
    "grad": lambda x, made: func.grad(lambda z: (z * made * z).sum())(x),
    "vjp": lambda x, made: func.vjp(lambda z: z * made, x)[1](V)[0],
    "jvp": lambda x, made: func.jvp(lambda z: z * made, (x,), (V,))[1],
    "jacrev": lambda x, made: func.jacrev(lambda z: z * made)(x),
    "jacfwd": lambda x, made: func.jacfwd(lambda z: z * made)(x),
    "hessian": lambda x, made: func.hessian(lambda z: (z * made * z).sum())(x),
    "vmap of grad": lambda x, made: func.vmap(func.grad(lambda z: (z * made).sum()))(
        taeda.outer(x, x)
    ),
    "linearize": lambda x, made: func.linearize(lambda z: z * made * z, x)[1](V),
}


@pytest.mark.parametrize("name", CAPTURES)
def test_what_was_made_in_inference_mode_may_be_used(name):
    with taeda.inference_mode():
        made = V * 1
    wanted = CAPTURES[name](X, V)
    taeda.testing.assert_close(CAPTURES[name](X, made), wanted)
    taeda.testing.assert_close(CAPTURES[name](made, made), CAPTURES[name](V, V))


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("name", CAPTURES)
def test_tangents_of_what_was_made_in_inference_mode_are_saved(name, inside):
    with taeda.inference_mode():
        made = V * 1
    wanted = func.jvp(lambda x: CAPTURES[name](X, x), (V,), (X,))[1]
    with taeda.inference_mode(inside):
        got = func.jvp(lambda x: CAPTURES[name](X, x), (made,), (X,))[1]
    taeda.testing.assert_close(got, wanted)
    assert wanted.abs().sum() > 0


MODES = {
    "no_grad": taeda.no_grad,
    "inference_mode": taeda.inference_mode,
    "enable_grad": taeda.enable_grad,
    "anomaly": taeda.autograd.detect_anomaly,
    "an open dual level": dual_level,
    "nothing": contextlib.nullcontext,
}


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_is_the_same_under_a_mode(name, mode):
    wanted = TRANSFORMS[name](X)
    with MODES[mode]():
        got = TRANSFORMS[name](X)
    taeda.testing.assert_close(got, wanted, rtol=1e-6, atol=1e-6)
    assert wanted.abs().sum() > 0


@pytest.mark.parametrize("caller", [within_function, with_inference_inputs])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_is_the_same_within(name, caller):
    got = caller(TRANSFORMS[name], X)
    taeda.testing.assert_close(got, TRANSFORMS[name](X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_modes_are_as_before_afterwards(name):
    with taeda.inference_mode():
        TRANSFORMS[name](X)
        assert taeda.is_inference_mode_enabled()
        assert not taeda.is_grad_enabled()
    with taeda.no_grad():
        TRANSFORMS[name](X)
        assert not taeda.is_grad_enabled()


def test_a_function_that_raises_leaves_modes_as_they_were():
    def fails(x):
        raise KeyError("words")

    for transform in (func.grad(fails), func.jacfwd(fails), lambda x: func.jvp(fails, (x,), (V,))):
        with taeda.inference_mode(), pytest.raises(KeyError):
            transform(X)
        with taeda.inference_mode():
            assert taeda.is_inference_mode_enabled()
        assert taeda.is_grad_enabled()


# ---- a function whose own steps take derivatives ----


def by_func(f):
    """A Function that is `f`: each of its methods calls a transform, and a map goes sample by sample."""

    class Own(taeda.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return f(x).clone()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return func.vjp(f, ctx.saved_tensors[0])[1](grad)[0]

        @staticmethod
        def jvp(ctx, tangent):
            return func.jvp(f, (ctx.saved_tensors[0],), (tangent,))[1]

    return Own.apply


def through_dual_level(x):
    ad = taeda.autograd.forward_ad
    with ad.dual_level():
        return ad.unpack_dual(ad.make_dual(x, V).sin()).tangent


INNER = {
    "sin": taeda.sin,
    "grad": lambda x: func.grad(total)(x),
    "vjp": lambda x: func.vjp(taeda.sin, x)[1](V)[0],
    "jvp": lambda x: func.jvp(taeda.sin, (x,), (V,))[1],
    "vmap": lambda x: func.vmap(taeda.sin)(x),
}
AROUND = {
    "nothing": lambda f: f(X),
    "grad": lambda f: func.grad(lambda z: (f(z) * V).sum())(X),
    "jvp": lambda f: func.jvp(f, (X,), (V,))[1],
    "vmap": lambda f: func.vmap(f)(taeda.outer(V, X)),
    "vmap of grad": lambda f: func.vmap(func.grad(lambda z: (f(z) * V).sum()))(taeda.outer(V, X)),
    "vmap of jvp": lambda f: func.vmap(lambda z: func.jvp(f, (z,), (V,))[1])(taeda.outer(V, X)),
    "jacrev": lambda f: func.jacrev(f)(X),
    "jacfwd": lambda f: func.jacfwd(f)(X),
    "hessian": lambda f: func.hessian(lambda z: (f(z) * V).sum())(X),
    "two maps": lambda f: func.vmap(func.vmap(func.jacrev(f)))(taeda.outer(V, X).expand(3, 2, 2)),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", INNER)
def test_a_function_that_takes_derivatives_is_what_it_computes(name, around):
    wanted, got = (AROUND[around](f) for f in (INNER[name], by_func(INNER[name])))
    assert got.device == wanted.device
    taeda.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-6)


def test_a_dual_level_may_be_opened_in_the_forward_of_a_function():
    taeda.testing.assert_close(by_func(through_dual_level)(X), X.cos() * V)

    def by_hand(x):
        taeda.autograd.forward_ad.enter_dual_level()

    with pytest.raises(RuntimeError, match="leave tangents alone here"):
        by_func(by_hand)(X)
    with dual_level():  # none was left open
        pass


@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_tangents_pass_the_functions_of_autograd_functional(name, create_graph):
    entry = getattr(taeda.autograd.functional, name)
    more = () if name in ("jacobian", "hessian") else (V,)
    scalar = name in ("hessian", "hvp", "vhp")

    def derivative(x):
        made = entry(total if scalar else taeda.sin, x, *more, create_graph=create_graph)
        return made[1] if more else made

    step = 1e-3 * V
    wanted = (derivative(X + step) - derivative(X - step)) / 2e-3
    taeda.testing.assert_close(func.jvp(derivative, (X,), (V,))[1], wanted, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("outer", ["grad", "jacrev", "hessian", "vjp"])
def test_what_a_transform_returns_has_no_graph_of_inner_ones(outer):
    """Also where the inner one differentiates by more than is used."""

    def inner(x):
        both = func.grad(lambda p: (p["x"].sin() * p["w"]).sum())({"x": x, "w": V})
        return (both["x"] * V).sum()

    made = {
        "grad": lambda: func.grad(inner)(X),
        "jacrev": lambda: func.jacrev(inner)(X),
        "hessian": lambda: func.hessian(inner)(X),
        "vjp": lambda: func.vjp(inner, X)[1](taeda.tensor(1.0))[0],
    }[outer]()
    assert not made.requires_grad
    leaf = X.clone().requires_grad_()
    func.grad(inner)(leaf).sum().backward()
    wanted = -X.cos() * V * V
    taeda.testing.assert_close(leaf.grad, wanted)


@pytest.mark.parametrize("name", ["sin", "vmap"])  # whose values are no samples
def test_what_is_shared_by_samples_is_walked_back_from_without_them(name):
    own = by_func(INNER[name])

    def by_hand(f):
        z = X.clone().requires_grad_()
        return taeda.autograd.grad(f(z), z, V)[0]

    def by_functional(f):
        return taeda.autograd.functional.vjp(f, X, V)[1]

    def slope(f):
        return func.jvp(f, (X,), (V,))[1]

    for run in (by_hand, by_functional, slope):
        mapped = func.vmap(lambda a, run=run: run(own) * a)(taeda.tensor([1.0, 2.0]))
        wanted = run(INNER[name])
        taeda.testing.assert_close(mapped, taeda.stack([wanted, 2 * wanted]), rtol=1e-5, atol=1e-6)


def test_a_tangent_of_what_samples_share_outlives_the_map():
    own = by_func(taeda.sin)

    def run(x):
        return func.vmap(lambda a: own(x) * a)(taeda.tensor([1.0, 2.0])).sum(0)

    taeda.testing.assert_close(func.jvp(run, (X,), (V,))[1], 3 * X.cos() * V)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", ["sin", "vmap", "grad"])
def test_derivatives_of_what_a_map_takes_of_a_function_with_transforms(name, shared):
    def inner(x):
        return func.vjp(INNER[name], x)[1](V)[0]

    def sums(f):
        weights = taeda.tensor([[1.0, 2.0], [3.0, 5.0]])
        if not shared:
            return lambda x: func.vmap(lambda w: f(x * w))(weights).sum(0)
        return lambda x: func.vmap(lambda w: f(x) * w)(weights).sum(0)

    wanted = func.jacfwd(sums(inner))(X)
    for jacobian in (func.jacrev, func.jacfwd):
        made = jacobian(sums(by_func(inner)))(X)
        taeda.testing.assert_close(made, wanted, rtol=1e-5, atol=1e-5)
    made = func.vjp(sums(by_func(inner)), X)[1](V)[0]
    taeda.testing.assert_close(made, V @ wanted, rtol=1e-5, atol=1e-5)
