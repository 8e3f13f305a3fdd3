"""Dual tensors and `functional` against torch's: values, layouts, kinds of errors."""

from __future__ import annotations

import pytest
import torch
import torch.autograd.forward_ad

import taeda
import taeda.autograd.forward_ad
import taeda.autograd.functional

# torch compiles its own formulas when it makes its first dual tensor
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
BOTH = [torch, taeda]


def plain(value):
    """Shapes, strides, types and values, to nine digits."""
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    if value is None:
        return None
    array = value.detach().numpy()
    return array.dtype.name, value.stride(), (array.round(9) + 0).tolist()


def answer(run, library):
    """What comes back, or the built-in type of what is raised."""
    try:
        return plain(run(library))
    except (RuntimeError, TypeError, ValueError) as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


def same(run):
    theirs, ours = (answer(run, library) for library in BOTH)
    assert ours == theirs


def write_all(ad, x):
    x.mul_(x.clone())
    x[1:].copy_(x[:1])
    return x


def become_dual(ad, x):
    whole = x.new_zeros(4)
    view = whole[1:]
    whole[2] = x[0]
    return view * 2


DUALS = {
    "arithmetic": lambda ad, x: (x * 3 - x / 2).sin(),
    "two results": lambda ad, x: x.sort(descending=True),
    "views": lambda ad, x: x.view(3, 1).expand(3, 2).t()[1:],
    "layout": lambda ad, x: (x.view(3, 1) * x).t().contiguous(),
    "in place": write_all,
    "a plain tensor written": become_dual,
    "a step": lambda ad, x: x > 1,
    "detached": lambda ad, x: x.detach(),
    "factory": lambda ad, x: ad.zeros_like(x),
    "random in place": lambda ad, x: x.clone().zero_(),
    "rounded": lambda ad, x: x.floor(),
    "integers": lambda ad, x: x.long(),
    "other type": lambda ad, x: x.float(),
    "norm": lambda ad, x: ad.nn.functional.layer_norm(x, (3,), x, x),
    "matrix": lambda ad, x: ad.linalg.inv(x.outer(x) + ad.eye(3, dtype=ad.float64)).contiguous(),
    "complex": lambda ad, x: ad.fft.rfft(x).abs(),
    "out": lambda ad, x: ad.add(x, 1, out=ad.empty(3, dtype=ad.float64)),
    "scalar of a step": lambda ad, x: x * x.argmax(),
    "clamped": lambda ad, x: x.clamp(1.5, 2.5),
    "loss": lambda ad, x: ad.nn.functional.cross_entropy(x, ad.tensor(1)),
}


@pytest.mark.parametrize("name", DUALS)
def test_tangents(name):
    def run(ad):
        x = ad.tensor([1.0, 2.0, 3.0], dtype=ad.float64)
        t = ad.tensor([1.0, 10.0, 100.0], dtype=ad.float64)
        with ad.autograd.forward_ad.dual_level():
            made = DUALS[name](ad, ad.autograd.forward_ad.make_dual(x, t))
            made = made if isinstance(made, tuple) else (made,)
            return tuple(p for m in made for p in ad.autograd.forward_ad.unpack_dual(m))

    same(run)


MISTAKES = {
    "no level": lambda ad, f: f.make_dual(ad.ones(2), ad.ones(2)),
    "no level to leave": lambda ad, f: f.exit_dual_level(),
    "shape": lambda ad, f: in_level(f, lambda: f.make_dual(ad.ones(2), ad.ones(3))),
    "integer": lambda ad, f: in_level(f, lambda: f.make_dual(ad.ones(2, dtype=ad.int64), ad.ones(2))),
    "nested": lambda ad, f: in_level(f, f.enter_dual_level),
    "twice": lambda ad, f: in_level(f, lambda: f.make_dual(f.make_dual(ad.ones(2), ad.ones(2)), ad.ones(2))),
    "dual "
    "tangent": lambda ad, f: in_level(f,
        lambda: f.make_dual(ad.ones(2), f.make_dual(ad.ones(2), ad.ones(2)))),
    "level": lambda ad, f: in_level(f, lambda: f.make_dual(ad.ones(2), ad.ones(2), level=2)),
}  # fmt: skip


def in_level(forward_ad, run):
    with forward_ad.dual_level():
        return run()


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    same(lambda ad: MISTAKES[name](ad, ad.autograd.forward_ad))


FUNCTIONAL = {
    "jacobian": lambda f, x, y: f.jacobian(lambda x, y: (x * y, (x**3).sum()), (x, y)),
    "jacobian, forward": lambda f, x, y: f.jacobian(
        lambda x: x.view(1, 3) * x, x, vectorize=True, strategy="forward-mode"
    ).contiguous(),
    "jacobian of nothing": lambda f, x, y: f.jacobian(lambda x: y, x),
    "jacobian, strict": lambda f, x, y: f.jacobian(lambda x: y, x, strict=True),
    "hessian": lambda f, x, y: f.hessian(lambda x, y: (x**3 * y).sum(), (x, y)),
    "hessian of one element": lambda f, x, y: f.hessian(lambda x: (x**3).sum().reshape(1, 1), x),
    "hessian, no scalar": lambda f, x, y: f.hessian(lambda x: x * 2, x),
    "vjp": lambda f, x, y: f.vjp(lambda x, y: (x * y, x.sum()), (x, y), (y, x[0])),
    "vjp, wrong v": lambda f, x, y: f.vjp(lambda x: x.sum(), x, y),
    "jvp": lambda f, x, y: f.jvp(lambda x, y: (x * y, x.sum()), (x, y), (y, x)),
    "jvp, no v": lambda f, x, y: f.jvp(lambda x: x, x),
    "hvp": lambda f, x, y: f.hvp(lambda x: (x**3).sum(), x, y),
    "vhp": lambda f, x, y: f.vhp(lambda x: (x**3).sum(), x, y),
    "vhp, strict": lambda f, x, y: f.vhp(lambda x: x.sum(), x, y, strict=True),
    "no tensor": lambda f, x, y: f.jacobian(lambda x: 3, x),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_functional(name):
    def run(library):
        x = library.tensor([1.0, 2.0, 3.0], dtype=library.float64)
        y = library.tensor([0.5, -1.0, 2.0], dtype=library.float64)
        return FUNCTIONAL[name](library.autograd.functional, x, y)

    same(run)
