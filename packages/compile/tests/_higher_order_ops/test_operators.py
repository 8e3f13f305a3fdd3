"""Each operator against the loop that it stands for: values, gradients, transforms, compiled; and
what it refuses.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

import taeda
from taeda import _higher_order_ops as ops
from taeda.func import grad, vmap


def running(carry, x):
    carry = carry * 0.5 + x.sin()
    return carry, carry * x


def scanned(init, xs, dim, reverse):
    carry, outputs = init, []
    slices = xs.unbind(dim)
    for x in reversed(slices) if reverse else slices:
        carry, output = running(carry, x)
        outputs.append(output)
    return carry, taeda.stack(outputs[::-1] if reverse else outputs, dim)


def combined(xs, dim, reverse):
    found = []
    slices = xs.unbind(dim)
    for x in reversed(slices) if reverse else slices:
        found.append(found[-1] * 0.5 + x if found else x)
    return taeda.stack(found[::-1] if reverse else found, dim)


def looped(x):
    for _ in range(3):
        x = x * x.sin()
    return x


def by_while(x):
    return ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * x.sin()), (0, x))[1]


def by_tensor(x):
    start = (taeda.zeros((), dtype=taeda.int64), x)
    return ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * x.sin()), start)[1]


PAIRS = {
    "while": (by_while, looped),
    "while by a tensor": (by_tensor, looped),
    "map": (lambda x: ops.map(lambda r, y: r.exp() * y, x, 2.0), lambda x: x.exp() * 2.0),
    "map of a tree": (
        lambda x: ops.map(lambda t: {"s": t[0] + t[1]}, (x, x * 2))["s"],
        lambda x: x + x * 2,
    ),
    "cond": (lambda x: ops.cond(x.dim() == 2, lambda y: y.sin(), lambda y: y.cos(), (x,)), taeda.sin),
}  # fmt: skip
for _dim in (0, 1, -1):
    for _reverse in (False, True):
        PAIRS[f"scan {_dim} {_reverse}"] = (
            lambda x, d=_dim, r=_reverse: ops.scan(
                running, x.select(d, 0) * 0, x, dim=d, reverse=r
            )[1],
            lambda x, d=_dim, r=_reverse: scanned(x.select(d, 0) * 0, x, d, r)[1],
        )
        PAIRS[f"associative {_dim} {_reverse}"] = (
            lambda x, d=_dim, r=_reverse: ops.associative_scan(lambda a, b: a * 0.5 + b, x, d, r),
            lambda x, d=_dim, r=_reverse: combined(x, d, r),
        )


@pytest.mark.parametrize(("operator", "loop"), PAIRS.values(), ids=PAIRS)
def test_it_is_the_loop(operator, loop):
    x = taeda.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
    found, expected = operator(x), loop(x)
    assert found.equal(expected)
    weight = taeda.arange(12.0).reshape(3, 4)
    (got,) = taeda.autograd.grad((found * weight).sum(), x)
    (wanted,) = taeda.autograd.grad((expected * weight).sum(), x)
    assert got.allclose(wanted)
    assert grad(lambda x: (operator(x) * weight).sum())(x.detach()).allclose(wanted)


@pytest.mark.parametrize("name", [n for n in PAIRS if n != "while by a tensor"])
def test_each_sample_of_a_batch(name):
    operator, loop = PAIRS[name]
    x = taeda.linspace(-1, 1, 24).reshape(2, 3, 4)
    assert vmap(operator)(x).allclose(taeda.stack([loop(one) for one in x]))


@pytest.mark.parametrize("wants_gradients", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_compiled_it_is_the_same(name, wants_gradients):
    """As a graph, unless the number of steps is the value of a tensor and gradients flow; these
    have the bits of the program, too.
    """
    operator, loop = PAIRS[name]
    f = taeda.compile(lambda x: operator(x) * 2)
    for k in range(4):
        x = taeda.linspace(-k, 1, 12).reshape(3, 4).requires_grad_(wants_gradients)
        found = f(x)
        assert found.equal(loop(x) * 2)
        if wants_gradients:
            (got,) = taeda.autograd.grad(found.sum(), x)
            (wanted,) = taeda.autograd.grad((operator(x) * 2).sum(), x)
            assert got.equal(wanted)
    state = f.__taeda_compiled__
    stays = name == "while by a tensor" and wants_gradients
    assert any(t.trusted for ts in state.traces.values() for t in ts) is not stays


def test_nothing_of_it_is_loaded_before_it_is_named():
    code = (
        "import sys, taeda; assert not any('higher_order' in m for m in sys.modules); "
        "taeda._higher_order_ops.scan"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
