from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import nn
from taeda.nn.modules import _hooks


def model():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.BatchNorm1d(8), nn.Linear(8, 2))


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.scale = model(), 2.0

    def forward(self, x):
        return self.inner(x) * self.scale


@pytest.mark.parametrize("make", [model, Gated])
def test_the_module_stays_what_it_is(make):
    taeda.manual_seed(0)
    plain = make()
    compiled = copy.deepcopy(plain)
    assert compiled.compile() is None
    assert type(compiled) is type(plain)
    assert list(compiled.state_dict()) == list(plain.state_dict())
    for _ in range(5):
        x = taeda.randn(3, 4)
        found, expected = compiled(x), plain(x)
        assert found.equal(expected)
        found.sum().backward()
        expected.sum().backward()
    pairs = zip(compiled.parameters(), plain.parameters(), strict=True)
    assert all(a.grad.equal(b.grad) for a, b in pairs)
    said = taeda.compiler.explain(compiled)(taeda.randn(3, 4))
    assert said.graph_count == 1 and not said.break_reasons


def test_a_change_between_calls_is_seen():
    net = Gated()
    net.compile()
    x = taeda.ones(3, 4)
    for scale in (2.0, 2.0, 2.0, 5.0, 5.0, 2.0):
        net.scale = scale
        net.eval()
        expected = net.inner(x) * scale
        assert net(x).equal(expected)


def test_copies_and_pickles_are_not_compiled():
    net = nn.Linear(2, 2)
    net.compile()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other._compiled_call_impl is None
        assert other(taeda.ones(1, 2)).equal(net(taeda.ones(1, 2)))


def test_a_compiled_child_is_part_of_its_parents_graph():
    net = Gated()
    net.inner.compile()
    net.inner[0].compile()
    step = taeda.compile(net, fullgraph=True)
    x = taeda.randn(3, 4)
    for _ in range(4):
        before = copy.deepcopy(net)
        assert step(x).equal(before(x))
    assert step._compiled.traces


def test_hooks_run_and_keep_the_module_as_it_is_written():
    net = nn.Linear(2, 2)
    net.compile()
    x = taeda.ones(1, 2)
    plain = copy.deepcopy(net)
    seen = []
    for _ in range(3):
        assert net(x).equal(plain(x))
    handle = net.register_forward_hook(lambda m, args, out: seen.append(1) or out * 2)
    for _ in range(4):
        assert net(x).equal(plain(x) * 2)
    assert len(seen) == 4
    handle.remove()
    for _ in range(4):
        assert net(x).equal(plain(x))
    assert len(seen) == 4
    handle = net.register_forward_hook(lambda m, args, out: out * 3)
    for _ in range(3):
        assert net(x).equal(plain(x) * 3)


def test_settings_are_those_of_compile():
    net = nn.Linear(2, 2)
    with pytest.raises(taeda.compiler.InvalidBackend, match="nvfuser"):
        net.compile(backend="nvfuser")
    counter = taeda._dynamo.testing.CompileCounter()
    net.compile(backend=counter, fullgraph=True)
    net(taeda.ones(1, 2))
    assert (counter.frame_count, counter.op_count) == (1, 1)
    net.compile(disable=True)
    assert net._compiled_call_impl is None


def test_a_module_that_stays_as_it_is_is_called_at_once():
    """Nothing looks for what was compiled, until hooks come or everything is forgotten."""
    net = nn.Linear(2, 2)
    net.compile()
    state, x = net._compiled_call_impl.__taeda_compiled__, taeda.ones(1, 2)
    expected = net.forward(x)
    state.off = True
    assert "_hooked" not in net.__dict__ and net(x).equal(expected) and not state.traces
    handle = net.register_forward_hook(lambda module, args, result: result * 2)
    assert net(x).equal(expected * 2)
    handle.remove()
    state.reset()
    assert net._hooked and net(x).equal(expected) and state.traces


def test_a_module_without_hooks_is_timed_by_what_it_takes_without_compile(monkeypatch):
    """The walk through hooks takes four times as long as a small module: its graph seemed fast beside it."""
    net, x = nn.Linear(2, 2), taeda.ones(1, 2)
    expected = net(x)
    net.compile()
    state = net._compiled_call_impl.__taeda_compiled__
    monkeypatch.setattr(_hooks, "_Call", None)  # whoever makes one fails
    assert state.function(x).equal(expected)
    handle = net.register_forward_hook(lambda module, args, result: result * 2)
    with pytest.raises(TypeError):
        state.function(x)
    handle.remove()
