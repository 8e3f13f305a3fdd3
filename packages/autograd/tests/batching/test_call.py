"""A call on samples: by its rule, by the text it is composed of, or sample by sample."""

from __future__ import annotations

import warnings

import pytest

import taeda
from taeda._library.low_level import scoped_library
from taeda.autograd.batching import _call
from taeda.func import vmap


class _Functional:
    """`taeda.nn.functional` of a sibling, looked up when a test asks."""

    def __getattr__(self, name):
        return getattr(taeda.nn.functional, name)


F = _Functional()


def close(a, b):
    taeda.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_rules_are_used_for_common_functions():
    """A call that runs sample by sample warns; these have rules, in the forms that models use."""
    x, w = taeda.randn(3, 2, 4), taeda.randn(3, 5, 4)
    image = taeda.randn(3, 2, 3, 8, 8)
    programs = [
        lambda: vmap(lambda x, w: F.linear(x, w).relu().softmax(-1))(x, w),
        lambda: vmap(lambda x: F.layer_norm(x, (4,)).sum(0).view(2, 2).transpose(0, 1))(x),
        lambda: vmap(lambda i: F.max_pool2d(F.conv2d(i, taeda.ones(4, 3, 3, 3)), 2).flatten(1))(image),
        lambda: vmap(lambda i, k: F.conv2d(i, k))(image, taeda.randn(3, 4, 3, 3, 3)),
        lambda: vmap(lambda x, t: F.cross_entropy(x, t))(x, taeda.zeros(3, 2, dtype=taeda.int64)),
        lambda: vmap(lambda x, y: F.mse_loss(x, y) + F.huber_loss(x, y))(x, x + 1),
        lambda: vmap(lambda x: x.mean() + x.std(0) + x.max(1)[0].sum() + x.cumsum(0).norm())(x),
        lambda: vmap(lambda x: taeda.cat([x, x]).reshape(-1)[1:3] + x[0, None, 1] + x[..., -1])(x),
        lambda: vmap(lambda x, i: x[i] + x.gather(0, i[:, None].expand(2, 4)))(x,
            taeda.zeros(3, 2, dtype=taeda.int64)),
        lambda: vmap(lambda x: F.scaled_dot_product_attention(x, x, x))(x),
        lambda: vmap(lambda x: taeda.linalg.inv(x @ x.T + taeda.eye(2)).det())(x),
        lambda: vmap(lambda i: F.batch_norm(i, None, None, training=True))(image),
        lambda: vmap(lambda i: F.embedding(i, taeda.ones(3, 2)))(taeda.zeros(3, 2, dtype=taeda.int64)),
    ]  # fmt: skip
    looped = []
    run = _call.one_by_one
    _call.one_by_one = lambda level, key, *rest: looped.append(key) or run(level, key, *rest)
    try:
        for program in programs:
            program()
    finally:
        _call.one_by_one = run
    assert not looped


def test_one_warning_for_a_function_without_a_rule():
    _call._warned.discard("histc")
    with pytest.warns(UserWarning, match="batching rule for histc") as caught:
        vmap(lambda x: taeda.histc(x, 3, 0, 1))(taeda.rand(2, 5))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vmap(lambda x: taeda.histc(x, 3, 0, 1))(taeda.rand(2, 5))


def test_walks_back_from_a_sample_are_refused():
    x = taeda.randn(3, requires_grad=True)
    for program in (
        lambda x: taeda.autograd.grad(x.sin(), x)[0],
        lambda x: x.sin().backward() or x,
    ):
        with pytest.raises(RuntimeError, match="its graph is that of all samples"):
            vmap(program)(x)


def test_walks_back_with_mapped_gradients():
    x = taeda.randn(3, requires_grad=True)
    y = x.sin()
    made = vmap(lambda g: taeda.autograd.grad(y, x, g)[0])(taeda.eye(3))
    close(made, taeda.diag(x.cos()).detach())


def test_operators_inside_leave_what_they_do_not_know_to_the_other_type():
    class Reflected:
        def __radd__(self, other):
            return other * 3

    def f(x):
        return x + Reflected() if (x == "a") is False else x

    assert taeda.func.vmap(f)(taeda.ones(2, 2)).tolist() == [[3, 3], [3, 3]]


def test_a_rule_of_the_user():
    seen = []
    with scoped_library("vmaprule", "FRAGMENT") as lib:
        lib.define("sum(Tensor x, Tensor[] more, *, float scale=1.0) -> Tensor")
        lib.impl("sum", lambda x, more, scale: (x.sum() + sum(m.sum() for m in more)) * scale)

        @taeda.library.register_vmap("vmaprule::sum", lib=lib)
        def rule(info, in_dims, x, more, *, scale=1.0):
            seen.append((info.batch_size, info.randomness, in_dims))
            total = x.movedim(in_dims[0], 0).flatten(1).sum(1)
            for value, dim in zip(more, in_dims[1], strict=True):
                total = total + (value.sum() if dim is None else value.flatten(1).sum(1))
            return total * scale, 0

        x, y, shared = taeda.randn(3, 2), taeda.randn(3, 4), taeda.randn(5)
        op = taeda.ops.vmaprule.sum
        for function in (op, op.default):
            made = taeda.vmap(lambda a, b, f=function: f(a, [b, shared], scale=2.0))(x, y)
            wanted = taeda.stack([op(a, [b, shared], scale=2.0) for a, b in zip(x, y, strict=True)])
            taeda.testing.assert_close(made, wanted)
        assert seen == [(3, "error", (0, [0, None]))] * 2
        twice = taeda.vmap(taeda.vmap(lambda a: op(a, [])))(taeda.ones(2, 3, 4))
        assert twice.tolist() == [[4.0] * 3] * 2
    with scoped_library("vmaprule", "FRAGMENT") as lib:
        lib.define("sum(Tensor x) -> Tensor")
        lib.impl("sum", lambda x: x * 10)
        with pytest.warns(UserWarning, match="vmaprule::sum"):  # the rule went with its library
            made = taeda.vmap(taeda.ops.vmaprule.sum)(taeda.ones(2, 2))
        assert made.tolist() == [[10.0, 10.0], [10.0, 10.0]]  # and that of taeda.sum is not asked


def test_a_rule_that_gives_no_pair():
    @taeda.library.custom_op("vmaprule::bad", mutates_args=())
    def bad(x: taeda.Tensor) -> taeda.Tensor:
        return x + 1

    bad.register_vmap(lambda info, in_dims, x: x)
    with pytest.raises(RuntimeError, match="the vmap rule of vmaprule::bad to return a tuple"):
        taeda.vmap(bad)(taeda.ones(2))
    bad.register_vmap(lambda info, in_dims, x: (x + 1, in_dims[0]))
    assert taeda.vmap(bad)(taeda.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(AttributeError):
        taeda.library.register_vmap("vmaprule::none", lambda info, in_dims: None)
