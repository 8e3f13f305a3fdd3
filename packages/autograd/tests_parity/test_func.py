"""Transforms of functions against torch's: values, forms, kinds of errors."""

from __future__ import annotations

import pytest
import torch
import torch.func

import taeda
import taeda.func

# torch compiles and traces formulas of its own here
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning"),
]


def plain(value):
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.requires_grad, (value.detach().numpy().round(9) + 0).tolist()


def answer(run, library):
    """What comes back, or the built-in type of what is raised."""
    try:
        x = library.tensor([1.0, 2.0, 3.0], dtype=library.float64)
        return plain(run(library.func, library, x))
    except (RuntimeError, TypeError, ValueError) as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


def frozen_square(ad, x):
    with ad.no_grad():
        constant = x * x
    return (x * constant).sum()


def under_no_grad(f, ad, x):
    with ad.no_grad():
        return f.grad(lambda x: (x * x).sum())(x.requires_grad_())


CALLS = {
    "grad": lambda f, ad, x: f.grad(lambda x: x.sin().sum())(x),
    "grad of no scalar": lambda f, ad, x: f.grad(lambda x: x)(x),
    "grad of one element": lambda f, ad, x: f.grad(lambda x: x.sum().reshape(1))(x),
    "grad of a number": lambda f, ad, x: f.grad(lambda x: 3.0)(x),
    "grad of integers": lambda f, ad, x: f.grad(lambda x: x.sum())(x.long()),
    "grad by a number": lambda f, ad, x: f.grad(lambda x: x.sum())(3.0),
    "grad of two": lambda f, ad, x: f.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, x + 1),
    "grad of the last": lambda f, ad, x: f.grad(lambda x, y: (x * y).sum(), argnums=-1)(x, x + 1),
    "grad of none": lambda f, ad, x: f.grad(lambda x: x.sum(), argnums=4)(x),
    "grad of a tree": lambda f, ad, x: f.grad(lambda d: (d["a"] * d["b"][0]).sum())(
        {"a": x, "b": [x, x]}
    ),
    "grad of detached": lambda f, ad, x: f.grad(lambda x: x.detach().sum())(x),
    "grad with aux": lambda f, ad, x: f.grad(lambda x: (x.sum(), x * 2), has_aux=True)(x),
    "grad without its aux": lambda f, ad, x: f.grad(lambda x: x.sum(), has_aux=True)(x),
    "grad and value": lambda f, ad, x: f.grad_and_value(lambda x: x.prod())(x),
    "no grad inside": lambda f, ad, x: f.grad(lambda x: frozen_square(ad, x))(x),
    "no grad outside": under_no_grad,
    "captured": lambda f, ad, x: f.grad(lambda y: (y * y * x).sum())(x.clone().requires_grad_()),
    "in place": lambda f, ad, x: f.grad(lambda x: x.mul_(2).sum())(x),
    "vjp": lambda f, ad, x: f.vjp(lambda x, y: (x * y, y.sum()), x, x)[1]((x, x[0])),
    "vjp, wrong form": lambda f, ad, x: f.vjp(lambda x: x, x)[1]((x, x)),
    "vjp, wrong shape": lambda f, ad, x: f.vjp(lambda x: x, x)[1](x[:2]),
    "vjp of a number": lambda f, ad, x: f.vjp(lambda x: 3, x)[0],
    "jvp": lambda f, ad, x: f.jvp(lambda x, y: {"a": x * y}, (x, x), (x, x + 1)),
    "jvp of nothing": lambda f, ad, x: f.jvp(lambda x: ad.ones(2), (x,), (x,)),
    "jvp, strict": lambda f, ad, x: f.jvp(lambda x: ad.ones(2), (x,), (x,), strict=True),
    "jvp, no tuple": lambda f, ad, x: f.jvp(lambda x: x, x, x),
    "jvp, wrong form": lambda f, ad, x: f.jvp(lambda x: x, (x,), (x, x)),
    "jvp, wrong shape": lambda f, ad, x: f.jvp(lambda x: x, (x,), (x[:2],)),
    "jacrev": lambda f, ad, x: f.jacrev(lambda x, y: (x * y, y), argnums=(0, 1))(x, x),
    "jacrev of a tree": lambda f, ad, x: f.jacrev(lambda d: {"o": d["i"] * 2})({"i": x}),
    "jacrev with aux": lambda f, ad, x: f.jacrev(lambda x: (x * x, x), has_aux=True)(x),
    "jacrev in chunks of none": lambda f, ad, x: f.jacrev(lambda x: x, chunk_size=0)(x),
    "jacfwd": lambda f, ad, x: f.jacfwd(lambda x, y: (x * y, y), argnums=(0, 1))(x, x),
    "jacfwd with aux": lambda f, ad, x: f.jacfwd(lambda x: (x * x, x), has_aux=True)(x),
    "jacfwd twice": lambda f, ad, x: f.jacfwd(f.jacfwd(lambda x: x**3))(x),
    "hessian": lambda f, ad, x: f.hessian(lambda x: (x**3).sum() * x.prod())(x),
    "grad three times": lambda f, ad, x: f.grad(f.grad(f.grad(lambda x: x**4)))(x[1]),
    "linearize": lambda f, ad, x: f.linearize(lambda x, y: (x**2, y), x, x)[1](x, x),
    "linearize, wrong shape": lambda f, ad, x: f.linearize(lambda x: x, x)[1](x[:2]),
}


@pytest.mark.parametrize("name", CALLS)
def test_transforms(name):
    theirs, ours = (answer(CALLS[name], library) for library in (torch, taeda))
    assert ours == theirs
