"""Backward through the node of a compiled program, beside gradients that come from elsewhere."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.compiler._replay.node import empty_like_result


def warm(f, *args):
    compiled = taeda.compile(f, backend="aot_eager")
    for _ in range(3):
        compiled(*args)
    state = compiled.__taeda_compiled__
    assert any(t.trusted for traces in state.traces.values() for t in traces), state.reasons
    return compiled


def test_an_input_that_was_computed_from_another_input():
    """The caller's walk goes on behind the program; that of the program must not go there as well."""
    x, w = taeda.tensor([2.0, 3.0], requires_grad=True), taeda.ones(2, requires_grad=True)
    two = warm(lambda x, h: (x * h).sum(), taeda.ones(2, requires_grad=True), taeda.ones(2) * w)
    two(x, x * 2).backward()
    assert x.grad.tolist() == [8.0, 12.0]  # of 2 x^2
    closure = warm(lambda h: (w * h).sum(), w * 2)
    closure(w * 3).backward()
    assert w.grad.tolist() == [6.0, 6.0]


def test_tied_weights_inside_and_outside():
    table = nn.Embedding(5, 4)
    i = taeda.tensor([1, 4, 1])
    head = warm(lambda h: (h @ table.weight.T).square().sum(), table(i))
    found = taeda.autograd.grad(head(table(i)), table.weight)
    expected = taeda.autograd.grad((table(i) @ table.weight.T).square().sum(), table.weight)
    assert found[0].equal(expected[0])


GRADIENTS = [
    taeda.randn(4, 4),
    taeda.randn(4, 4).t(),
    taeda.randn(4, 1).expand(4, 4),
    taeda.randn(()).expand(4, 4),
]


@pytest.mark.parametrize("draws", [False, True])
def test_terms_are_added_to_a_gradient_from_elsewhere_one_by_one(draws):
    """Floating point sums differ in their last bits if the terms are added among themselves first."""
    taeda.manual_seed(0)
    w = taeda.randn(4, 4, requires_grad=True)

    def f(x):
        y = ((x @ w).tanh() @ w).sin() * w
        return nn.functional.dropout(y, 0.3) if draws else y

    g = warm(f, taeda.randn(4, 4, requires_grad=True))
    for gradient in GRADIENTS:
        x, state = taeda.randn(4, 4, requires_grad=True), taeda.get_rng_state()
        found = []
        for h in (f, g):
            taeda.set_rng_state(state)
            once = h(x * 1.1)
            y = (h(once) + w.cos() + x) * w * once
            found.append(taeda.autograd.grad(y, (x, w), gradient))
        assert all(a.equal(b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("count", [2, 5])
def test_some_of_the_results_beside_a_gradient_from_elsewhere(count):
    w = taeda.randn(6, requires_grad=True)

    def f(x):
        made = [(x * w).sin(), (x + w).cos(), (x - w).exp(), w * w, w / 3]
        return [y.sum() for y in made[:count]]

    g, x = warm(f, taeda.randn(6)), taeda.randn(6)
    for choice in range(1, 1 << count):
        found = []
        for h in (f, g):
            made = h(x)
            total = sum((y for n, y in enumerate(made) if choice >> n & 1), (w * 0.7).sin().sum())
            found.append(taeda.autograd.grad(total, w)[0])
        assert found[0].equal(found[1]), choice


def test_hooks_of_inputs_run_once():
    g = warm(lambda x: (x * x).sum(), taeda.randn(3, requires_grad=True))
    for again in (False, True):
        x = taeda.randn(3, requires_grad=True)
        x.register_hook(lambda gradient: gradient * 5)
        (found,) = taeda.autograd.grad(g(x), x, create_graph=again)
        assert found.detach().equal(10 * x.detach())


def test_memory_for_gradients():
    for shape, strides, made in (
        ((2, 3), (1, 2), (1, 2)),
        ((2, 3), (0, 1), (3, 1)),
        ((1, 3), (0, 1), (0, 1)),
    ):
        for device in ("cpu", "meta"):
            memory = empty_like_result(shape, taeda.float64, strides, taeda.device(device))
            assert memory.stride() == made and memory.device.type == device
            assert memory.dtype is taeda.float64


def apart(x, v, w):
    return (x * v).sin(), (x * w).cos()


def without_saved(x, v, w):
    return x + v, x - w


def shared(x, v, w):
    h = (x * v).sin()
    return h.cos(), h * 2 * w


@pytest.mark.parametrize("program", [apart, without_saved, shared])
@pytest.mark.parametrize("order", [(0, 1), (0, 0), (0, 1, 0)])
def test_backwards_of_results_one_after_the_other(program, order):
    """What the program itself uses up is used up, and no more."""
    found = []
    for f in (program, taeda.compile(program, backend="aot_eager")):
        v, w = (taeda.full((2,), n, requires_grad=True) for n in (3.0, 5.0))
        out = []
        for _ in range(4):
            v.grad = w.grad = None
            results = f(taeda.ones(2), v, w)
            for place in order:
                try:
                    results[place].sum().backward()
                except RuntimeError as error:
                    out.append("second time" in str(error))
            out.append([None if t.grad is None else t.grad.tolist() for t in (v, w)])
        found.append(out)
    assert found[0] == found[1]


FACTOR = 2.0


def scaled(x):
    return (x * x * FACTOR).sum()


def test_gradients_of_gradients_of_a_program_that_changed_are_refused(monkeypatch):
    f = taeda.compile(scaled, backend="aot_eager")
    x = taeda.ones(2, requires_grad=True)
    for _ in range(4):
        y = f(x)
    (kept,) = taeda.autograd.grad(f(x), x, create_graph=True)
    assert kept.tolist() == [4.0, 4.0]
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    with pytest.raises(RuntimeError, match="something that it reads has changed"):
        taeda.autograd.grad(y, x, create_graph=True)
    y = f(x)
    assert taeda.autograd.grad(y, x, create_graph=True)[0].tolist() == [10.0, 10.0]


def test_gradients_of_gradients_of_a_module_that_changed_its_mode_are_refused():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)).eval()
    f = taeda.compile(net, backend="aot_eager")
    x = taeda.ones(1, 2, requires_grad=True)
    for _ in range(4):
        y = f(x).square().sum()
    net.train()
    with pytest.raises(RuntimeError, match="a mode of a module"):
        taeda.autograd.grad(y, x, create_graph=True)
    assert taeda.autograd.grad(y, x)[0].shape == (1, 2)


def test_gradients_of_gradients_under_another_dtype_are_refused():
    f = taeda.compile(lambda x: (x * x * taeda.ones(2)).sum(), backend="aot_eager")
    x = taeda.ones(2, requires_grad=True)
    for _ in range(4):
        y = f(x)
    taeda.set_default_dtype(taeda.float64)
    try:
        with pytest.raises(RuntimeError, match="has changed"):
            taeda.autograd.grad(y, x, create_graph=True)
    finally:
        taeda.set_default_dtype(taeda.float32)
