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
