"""Calls of operators that were defined at run time, in programs of graphs."""

from __future__ import annotations

import itertools
import random

import pytest
from custom_operators import Kernel, defined, nothing, runs, same, tripled

import taeda
from taeda import Tensor
from taeda.library import custom_op

DTYPES = (taeda.float32, taeda.float64, taeda.bfloat16, taeda.complex64)


def test_tensor_lists_optional_tensors_and_keywords(space):
    def kernel(xs, weight, entries, *, scale, mode, bias):
        made = sum(xs) * scale
        if weight is not None:
            made = made * weight
        for entry in entries:
            made = made if entry is None else made + entry
        return made if bias is None else (made - bias if mode == "minus" else made + bias)

    def fake(xs, weight, entries, **rest):
        return taeda.empty_like(xs[0])

    op = defined(
        space,
        "many(Tensor[] xs, Tensor? weight, Tensor?[] entries, *, float scale=2.0, str mode='minus',"
        " Tensor? bias=None) -> Tensor",
        kernel,
        fake,
    )

    def f(x, y):
        a = op([x, y, x * y], None, [None, y])
        b = op([x], y, [], scale=0.5, bias=x)
        return op([a, b], a, [x, None], mode="plus", bias=y)

    runs(f, lambda: (taeda.randn(4), taeda.randn(4)))


def test_several_results_lists_and_none_at_all(space):
    split = defined(
        space,
        "parts(Tensor x, int n) -> Tensor[]",
        lambda x, n: [c.clone() for c in x.chunk(n)],
        lambda x, n: [c.clone() for c in x.chunk(n)],
    )
    two = defined(
        space,
        "two(Tensor x) -> (Tensor, Tensor)",
        lambda x: (x + 1, x.sum()),
        lambda x: (taeda.empty_like(x), x.new_empty(())),
    )
    seen = []
    note = defined(space, "note(Tensor x) -> ()", lambda x: seen.append(x.sum().item()))

    def f(x):
        a, b = split(x, 2)
        c, d = two(a)
        note(c)
        return c * b, d, split(x, 1)

    runs(f, lambda: (taeda.randn(6),), calls=9)
    eager = seen[0::2][:9]
    assert seen[1::2][:9] == eager


def test_a_tensor_or_none_stays_what_it_was(space):
    answer = [True]
    op = defined(
        space,
        "maybe(Tensor x) -> (Tensor, Tensor?)",
        lambda x: (x + 1, None if answer[0] else x * 2),
        lambda x: (taeda.empty_like(x), None),
    )

    def f(x):
        a, b = op(x)
        return a if b is None else a + b

    fast = taeda.compile(f, fullgraph=True)
    for _ in range(4):
        assert fast(taeda.ones(2)).tolist() == [2, 2]
    answer[0] = False
    with pytest.raises(RuntimeError, match="has a result 1 where it had None"):
        fast(taeda.ones(2))


def test_arguments_that_its_schema_writes(space):
    def kernel(x, y, zs):
        x.numpy()[...] += y.numpy()
        for z in zs:
            z.mul_(2)
        return y * 2

    op = defined(
        space,
        "into(Tensor(a!) x, Tensor y, Tensor(b!)[] zs) -> Tensor",
        kernel,
        lambda x, y, zs: taeda.empty_like(y),
    )

    def f(x, y, z):
        before = x * 2
        own = y.clone()
        a = op(x[1:3], y, [z, own])
        return before + x, a + y, own

    runs(f, lambda: (taeda.randn(4), taeda.randn(2), taeda.randn(3)))


def test_an_argument_that_is_written_and_returned(space):
    def kernel(x, y):
        x.add_(y)
        return x

    op = defined(space, "add_(Tensor(a!) x, Tensor y) -> Tensor(a!)", kernel, lambda x, y: x)

    def f(x, y):
        made = op(x, y)
        return made * 2, op(y.clone(), x)

    runs(f, lambda: (taeda.randn(3), taeda.randn(3)))


def test_writes_are_seen_by_saved_values(space):
    op = defined(space, "fill(Tensor(a!) x) -> ()", lambda x: nothing(x.fill_(3.0)))

    def f(x, y):
        op(y)
        return x * 2

    fast = taeda.compile(f, fullgraph=True)
    for _ in range(4):
        x = taeda.ones(2)
        y, w = taeda.ones(2), taeda.ones(2, requires_grad=True)
        z = (w * y).sum()
        fast(x, y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()


def test_a_fake_that_lies_is_found_before_results_are_used(space):
    count = itertools.count()
    op = defined(
        space,
        "grows(Tensor x) -> Tensor",
        lambda x: taeda.ones(3 + (next(count) > 3)),
        lambda x: x.new_empty(3),
    )
    fast = taeda.compile(lambda x: op(x).sum(), fullgraph=True)
    assert [fast(taeda.ones(3)).item() for _ in range(4)] == [3] * 4
    with pytest.raises(RuntimeError, match="gave a result of"):
        fast(taeda.ones(3))


def test_each_shape_has_its_graph(space):
    kernel = Kernel(lambda x: taeda.cat([x, x]))
    op = defined(
        space,
        "twice(Tensor x) -> Tensor",
        kernel,
        lambda x: x.new_empty(2 * x.shape[0], *x.shape[1:]),
    )
    f = taeda.compile(lambda x: op(x).reshape(2, -1) * 2, fullgraph=True)
    for _ in range(3):
        for rows in (1, 2, 5, 0):
            x = taeda.randn(rows, 3)
            assert same(f(x), (taeda.cat([x, x]).reshape(2, -1) * 2) if rows else f(x))


def test_in_a_region_of_autocast(space):
    op = defined(space, "cast(Tensor x) -> Tensor", lambda x: x * 2, taeda.empty_like)
    taeda.library.register_autocast(f"{space.ns}::cast", "cpu", taeda.bfloat16)
    fast = taeda.compile(lambda x: op(x) + 1, fullgraph=True)
    for _ in range(5):
        x = taeda.randn(3)
        with taeda.autocast("cpu"):
            assert same(fast(x), op(x) + 1)
        assert fast(x).dtype == taeda.float32


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(space, seed):
    """Rows of the table and operators of three kinds in any order, on tensors of several layouts."""
    pick = random.Random(seed)
    plain = defined(space, "plain(Tensor x) -> Tensor", lambda x: x * 3, taeda.empty_like)
    adds = defined(space, "adds(Tensor(a!) x, Tensor y) -> ()", lambda x, y: nothing(x.add_(y)))
    parts = defined(
        space,
        "parts(Tensor[] xs, *, int n) -> Tensor[]",
        lambda xs, *, n: [(x + n).contiguous() for x in xs],
        lambda xs, *, n: [taeda.empty(x.shape, dtype=x.dtype, device=x.device) for x in xs],
    )
    steps = [
        pick.choice(("plain", "adds", "adds_view", "parts", "mul", "clone", "t", "in_place"))
        for _ in range(7)
    ]

    def f(x, y):
        for step in steps:
            if step == "plain":
                y = plain(y) * 0.1
            elif step == "adds":
                adds(x, y)
            elif step == "adds_view":
                adds(x[1:], y[1:])
            elif step == "parts":
                y, other = parts([y, x], n=2)
                y = y + other
            elif step == "mul":
                y = y * x
            elif step == "clone":
                y = x.clone()
            elif step == "t":
                y = y.t().contiguous().t()
            else:
                x.mul_(0.5)
        return x + y, y

    dtype, turned = pick.choice(DTYPES), pick.random() < 0.5

    def make():
        x, y = taeda.randn(3, 3, dtype=dtype), taeda.randn(3, 3, dtype=dtype)
        return (x.t(), y) if turned else (x, y)

    runs(f, make, calls=12)


def test_arguments_that_share_memory(space):
    op = defined(space, "times(Tensor(a!) x) -> Tensor", lambda x: x.mul_(3) + 0, taeda.empty_like)

    def f(x, y):
        op(x)
        return y + x

    fast = taeda.compile(f)
    for _ in range(8):
        for part in (lambda t: t, lambda t: t[:], lambda t: t.clone()):
            x, y = taeda.ones(4), taeda.ones(4)
            assert taeda.equal(f(x, part(x)), fast(y, part(y)))
            assert taeda.equal(x, y)


def test_a_composite_with_an_operator_in_it_in_training(space):
    low = defined(space, "low(Tensor x) -> Tensor", tripled, taeda.empty_like)
    taeda.library.register_autograd(f"{space.ns}::low", lambda ctx, g: g * 3)
    space.define("both(Tensor x, int n=2) -> (Tensor, Tensor)")
    space.impl("both", lambda x, n: (low(x).sin(), x * n), "CompositeImplicitAutograd")
    both = getattr(taeda.ops, space.ns).both

    def f(x):
        one, other = both(x)
        return one + other

    fast = taeda.compile(f, fullgraph=True, backend="aot_eager")
    for _ in range(12):
        x = taeda.randn(3, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        f(x).sum().backward()
        fast(y).sum().backward()
        assert taeda.equal(x.grad, y.grad)


def test_another_kernel_for_a_block(space):
    @custom_op(f"{space.ns}::chosen", mutates_args=())
    def chosen(x: Tensor) -> Tensor:
        return x * 2

    chosen.register_fake(taeda.empty_like)
    chosen.register_kernel("cpu", lambda x: x * 5)
    fast = taeda.compile(lambda x: chosen(x) + 1, fullgraph=True)
    assert [fast(taeda.ones(1)).item() for _ in range(4)] == [6] * 4
    with chosen.set_kernel_enabled("cpu", False):
        assert fast(taeda.ones(1)).item() == 3
    assert fast(taeda.ones(1)).item() == 6
