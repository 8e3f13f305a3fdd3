"""A checkpoint within every transform, and every transform within a checkpoint."""

from __future__ import annotations

import pytest

import taeda
from taeda import func
from taeda.autograd import forward_ad
from taeda.utils.checkpoint import checkpoint

X = taeda.tensor([0.5, -1.0, 0.75], dtype=taeda.float64)
V = taeda.tensor([1.0, 2.0, -0.5], dtype=taeda.float64)


def by_hand(x):
    with taeda.enable_grad():
        z = x * 1
        z = z if z.requires_grad else z.requires_grad_()
        return taeda.autograd.grad((z.sin() * z).sum(), z, create_graph=True)[0]


INNER = {
    "sin": taeda.sin,
    "grad": func.grad(lambda x: (x.sin() * x).sum()),
    "vjp": lambda x: func.vjp(taeda.sin, x)[1](V)[0],
    "jvp": lambda x: func.jvp(taeda.sin, (x,), (V,))[1],
    "jacrev": lambda x: func.jacrev(lambda z: z.cumsum(0).sin())(x).sum(0),
    "jacfwd": lambda x: func.jacfwd(lambda z: z.cumsum(0).sin())(x).sum(0),
    "hessian": lambda x: func.hessian(lambda z: z.prod().sin())(x).sum(0),
    "vmap": lambda x: func.vmap(taeda.sin)(x),
    "autograd.grad": by_hand,
    "checkpoint": lambda x: checkpoint(lambda z: z.sin() * z, x, use_reentrant=False),
}
# a sample has no graph of its own
MAPPED = {k: f for k, f in INNER.items() if k != "autograd.grad"}


def dual(f):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(X, V))).tangent


def backward(f):
    x = X.clone().requires_grad_()
    (f(x) * V).sum().backward()
    return x.grad


def total(f):
    return lambda x: (f(x) * V).sum()


AROUND = {
    "backward": backward,
    "grad": lambda f: func.grad(total(f))(X),
    "grad of grad": lambda f: func.grad(lambda x: func.grad(total(f))(x).sum())(X),
    "vjp": lambda f: func.vjp(f, X)[1](V)[0],
    "jvp": lambda f: func.jvp(f, (X,), (V,))[1],
    "linearize": lambda f: func.linearize(f, X)[1](V),
    "dual level": dual,
}
AROUND_MAPPED = {
    "vmap": lambda f: func.vmap(f)(taeda.outer(V, X)),
    "vmap of grad": lambda f: func.vmap(func.grad(total(f)))(taeda.outer(V, X)),
    "jacrev": lambda f: func.jacrev(f)(X),
    "jacfwd": lambda f: func.jacfwd(f)(X),
    "hessian": lambda f: func.hessian(total(f))(X),
}
CASES = [
    *((a, i) for a in AROUND for i in INNER),
    *((a, i) for a in AROUND_MAPPED for i in MAPPED),
]


@pytest.mark.parametrize(("around", "inner"), CASES)
def test_a_checkpoint_changes_nothing(around, inner):
    f, run = INNER[inner], (AROUND | AROUND_MAPPED)[around]
    made = run(lambda x: checkpoint(f, x, use_reentrant=False))
    taeda.testing.assert_close(made, run(f))


@pytest.mark.parametrize("inner", INNER)
def test_the_function_runs_again(inner):
    runs = []

    def counted(x):
        runs.append(1)
        return INNER[inner](x).exp() * x

    def run(x):
        return checkpoint(counted, x, use_reentrant=False)

    taeda.testing.assert_close(backward(run), backward(lambda x: INNER[inner](x).exp() * x))
    assert len(runs) >= 2
