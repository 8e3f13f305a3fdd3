from __future__ import annotations

import random

import pytest

import taeda
from taeda._core_api import programs as _core
from taeda.func import functionalize, grad, jvp, vmap


class Writes:
    """A tracer that notes the operators which write, and those that make views."""

    def __init__(self):
        self.writes, self.ops = [], []

    def call_into(self, op, args, run, targets):
        self.ops.append(op)
        if targets is not None or op.partition(".")[0].endswith("_"):
            self.writes.append(op)
        return run()


def seen(f, *args):
    """The tracer that saw a call, and its result."""
    tracer = Writes()
    _core.tracers.push(tracer)
    try:
        return tracer, f(*args)
    finally:
        _core.tracers.pop()


STEPS = {
    "add": lambda t, x: t.add_(1),
    "mul": lambda t, x: t.mul_(x.sum()),
    "row": lambda t, x: t[0].sub_(2),
    "part": lambda t, x: t[..., 1:].fill_(3),
    "flat": lambda t, x: t.reshape(-1)[::2].exp_(),
    "turned": lambda t, x: t.transpose(0, -1).copy_(taeda.ones(1)),
    "mask": lambda t, x: t.__setitem__(t > 2, 0),
    "split": lambda t, x: t.split(1)[0].neg_(),
    "unbind": lambda t, x: t.unbind(-1)[0].zero_(),
    "diagonal": lambda t, x: t.diagonal(0, 0, -1).mul_(-1),
    "windows": lambda t, x: t.unfold(-1, 2, 2).add_(1),
    "out": lambda t, x: taeda.sin(x, out=t),
    "strided": lambda t, x: t.as_strided((2,), (1,)).mul_(5),
    "number": lambda t, x: t.index_fill_(0, taeda.tensor([0]), 2),
    "relu": lambda t, x: taeda.nn.functional.relu(t, inplace=True) if hasattr(taeda, "nn") else t,
}


def program(seed):
    """A random function that writes to its input and to what it makes, and to views of both."""
    chosen = random.Random(seed)
    steps = [(chosen.choice(list(STEPS)), chosen.random() < 0.5) for _ in range(6)]

    def run(x):
        y, view = x.clone(), x.view(-1)
        kept = y.mT[1:]
        for name, inner in steps:
            STEPS[name](y if inner else x, x.clone())
        return y, kept.clone(), view.sum()

    return run


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed, remove):
    run, x = program(seed), taeda.randn(3, 4)
    wanted_x, given = x.clone(), x.clone()
    wanted = run(wanted_x)
    tracer, found = seen(functionalize(run, remove=remove), given)
    assert all(a.equal(b) for a, b in zip(found, wanted, strict=True)) and given.equal(wanted_x)
    assert tracer.writes in ([], ["copy_"])
    if remove == "mutations_and_views":
        views = {t for t, *_, flags in _core.op_rows() if flags & _core.row_flags["VIEW"]}
        assert not views & set(tracer.ops)


def test_what_is_not_written_is_not_copied():
    tracer, _ = seen(functionalize(lambda x: x.view(-1).sin()), taeda.ones(2))
    assert tracer.ops == ["view", "sin"]


def test_tensors_from_outside_are_written_at_the_end():
    total = taeda.zeros(2)
    tracer, _ = seen(functionalize(lambda x: total.add_(x) * 2), taeda.ones(2))
    assert tracer.ops == ["add.Tensor", "mul.Tensor", "copy_"]
    assert total.tolist() == [1.0, 1.0] and total._version == 1


def test_rows_without_another_form_write_to_clones():
    layer_mean, layer_var = taeda.zeros(2), taeda.ones(2)
    x = taeda.randn(4, 2)

    def f(x):
        return taeda.batch_norm(x, None, None, layer_mean, layer_var, True, 0.5, 1e-5, False)

    other = [layer_mean.clone(), layer_var.clone()]
    wanted = taeda.batch_norm(x, None, None, *other, True, 0.5, 1e-5, False)
    tracer, found = seen(functionalize(f), x)
    assert found.equal(wanted) and layer_mean.equal(other[0]) and layer_var.equal(other[1])
    assert tracer.writes == ["copy_", "copy_"]


@pytest.mark.parametrize("draw", ["normal_", "uniform_", "exponential_", "bernoulli_"])
def test_draws_are_those_of_the_function(draw):
    def f(x):
        y = taeda.empty_like(x)
        getattr(y, draw)()
        return y + taeda.rand(3)

    taeda.manual_seed(3)
    wanted, state = f(taeda.ones(3)), taeda.get_rng_state()
    taeda.manual_seed(3)
    assert functionalize(f)(taeda.ones(3)).equal(wanted)
    assert taeda.get_rng_state().equal(state)


def test_with_other_transforms():
    def f(x):
        y = x.sin()
        y.mul_(x)
        y[0].add_(x[1])
        return (y * y).sum()

    x = taeda.randn(3, 2)
    wanted = grad(f)(x)
    assert grad(functionalize(f))(x).equal(wanted)
    assert functionalize(grad(f))(x).equal(wanted)
    assert vmap(functionalize(lambda t: t.clone().mul_(2)))(x).equal(x * 2)
    assert functionalize(vmap(lambda t: t.clone().mul_(2)))(x).equal(x * 2)
    found = jvp(functionalize(f), (x,), (x,))
    assert all(a.equal(b) for a, b in zip(found, jvp(f, (x,), (x,)), strict=True))
    assert functionalize(functionalize(f))(x).equal(f(x))


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
def test_views_that_read_elements_in_another_way(remove):
    def f(x):
        y = x.clone()
        y.view(taeda.int32).add_(1)
        pairs = taeda.view_as_real(taeda.view_as_complex(y.view(2, 2)))
        pairs[0, 1] = 7
        return y

    tracer, found = seen(functionalize(f, remove=remove), taeda.ones(4))
    assert found.equal(f(taeda.ones(4))) and tracer.writes == []


def test_what_cannot_be():
    with pytest.raises(RuntimeError, match="remove is 'mutations'"):
        functionalize(taeda.sin, remove="writes")
    with pytest.raises(NotImplementedError, match="t_ changes the shape"):
        functionalize(lambda x: x.clone().t_())(taeda.ones(2, 3))
    with pytest.raises(NotImplementedError, match="another way than its base"):
        functionalize(lambda x: x.clone().real.add_(1))(taeda.ones(2, dtype=taeda.complex64))
    x = taeda.ones(4)
    with pytest.raises(RuntimeError, match="shares memory with one that was written"):
        functionalize(lambda a, b: a.add_(1) + b[:2].sum())(x, x[1:])
    assert not _core.tracers.entered


def test_a_write_into_an_empty_view_is_none():
    def f(x):
        made = x.clone()
        made[1:] = 2.0  # there is no second row
        return made * 3

    x = taeda.ones(1, 3)
    assert functionalize(f)(x).equal(f(x))


CHAINS = {
    "a copy of an expanded tensor": lambda y: y.expand(2, *y.shape)[0].sub_(1),
    "the last copy": lambda y: y.expand(2, *y.shape)[1].mul_(2),
    "a row of an expanded row": lambda y: y[:1].expand(2, 4)[0].add_(1),
    "a column of an expanded column": lambda y: y[:, :1].expand(3, 2)[:, 1].add_(1),
    "a part of a copy": lambda y: y.unsqueeze(0).expand(3, 3, 4).select(0, 2)[0].add_(1),
    "broadcast and squeezed": lambda y: y.broadcast_to(1, 3, 4).squeeze(0).add_(1),
    "a window of overlapping ones": lambda y: y.unfold(1, 2, 1)[0, 0].add_(1),
    "a row of overlapping strides": lambda y: y.as_strided((3, 2), (1, 1))[0].add_(1),
    "a diagonal": lambda y: y.diagonal()[1:].add_(1),
    "a split of a transpose": lambda y: y.t().split(2)[0].add_(1),
    "every fifth number": lambda y: y.flatten()[::5].add_(1),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_write_through_views_of_views_shows_in_all(name):
    def function(x):
        y = x * 1
        other = y.expand(2, *y.shape)
        part = CHAINS[name](y)
        return y * 1, part * 1, other[0] * 1, y.t() + 0

    x = taeda.arange(12.0).reshape(3, 4)
    wanted = function(x)
    for remove in ("mutations", "mutations_and_views"):
        made = functionalize(function, remove=remove)(x)
        assert all(taeda.equal(a, b) for a, b in zip(made, wanted, strict=True)), remove


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_tensors_of_numbers_are_told_to_the_next_outwards(depth):
    def f(x):
        factor = taeda.tensor([1.0, 2.0])
        factor.mul_(taeda.tensor(3.0))
        return x * factor

    run = f
    for _ in range(depth):
        run = functionalize(run)
    x = taeda.tensor([1.0, 2.0])
    assert run(x).tolist() == [3.0, 12.0]
