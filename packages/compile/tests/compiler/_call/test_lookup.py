"""A call of a compiled function: which graph it goes by, and when calls need not ask for one."""

from __future__ import annotations

import gc
import types
import weakref

import pytest

import taeda
from taeda import nn
from taeda.compiler._call import lookup


def test_after_many_calls_without_a_graph_few_are_looked_at(monkeypatch):
    """One in eight is, so a call of another kind still gets its graph."""
    looks = []
    plain = lookup.flatten
    monkeypatch.setattr(lookup, "flatten", lambda *given: looks.append(1) or plain(*given))

    def f(x, value):
        return x * x.sum().item() if value else x.sin() * 2 + x

    compiled, x = taeda.compile(f, backend="aot_eager"), taeda.ones(3)
    for _ in range(lookup.PATIENCE + 10):
        compiled(x, True)
    looks.clear()
    for _ in range(80):
        assert compiled(x, True).equal(f(x, True))
    assert len(looks) == 10
    looks.clear()
    for _ in range(20):
        assert compiled(x, False).equal(f(x, False))
    state = compiled.__taeda_compiled__
    assert any(t.trusted for ts in state.traces.values() for t in ts) and len(looks) >= 13


def test_a_call_under_a_mode_says_that_it_runs_as_it_is():
    def around(x):
        return x @ x

    compiled = taeda.compile(around)
    for _ in range(4):
        x = taeda.randn(4, 4)
        with taeda.overrides.BaseTorchFunctionMode():
            assert compiled(x).equal(around(x))
    state = compiled.__taeda_compiled__
    assert len(state.reasons) == 1 and "a mode" in state.reasons[0] and not state.traces


@pytest.mark.parametrize("place", ["attribute", "buffer", "plain", "dict", "list", "item"])
def test_tensors_that_are_replaced_at_each_call_are_let_go(place):
    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("buffer", taeda.zeros(3))
            self.plain = taeda.zeros(3)

    module, thing = Holder(), types.SimpleNamespace()
    table, row = {}, [None]
    put = {
        "attribute": lambda v: setattr(thing, "it", v),
        "buffer": lambda v: setattr(module, "buffer", v),
        "plain": lambda v: setattr(module, "plain", v),
        "dict": lambda v: table.update(it=v),
        "list": lambda v: row.__setitem__(0, v),
        "item": lambda v: row.__setitem__(0, v),
    }[place]
    get = {
        "attribute": lambda x: x + thing.it,
        "buffer": lambda x: x + module.buffer,
        "plain": lambda x: x + module.plain,
        "dict": lambda x: x + table["it"],
        "list": lambda x: sum(row, x),
        "item": lambda x: x + row[0],
    }[place]
    run, alive = taeda.compile(get), []
    for number in range(lookup.limits.graphs + lookup.PATIENCE + 4):
        value = taeda.full((3,), float(number))
        put(value)
        alive.append(weakref.ref(value))
        del value
        assert run(taeda.ones(3)).equal(taeda.full((3,), number + 1.0))
    gc.collect()
    assert sum(found() is not None for found in alive) == 1


def test_calls_without_graphs_need_not_be_asked():
    def scaled(x, k):
        return (x * k).relu() + k

    compiled = taeda.compile(scaled)
    x = taeda.randn(4)
    for number in range(lookup.limits.graphs + lookup.PATIENCE + 1):
        assert compiled(x, number).equal(scaled(x, number))
    state = compiled.__taeda_compiled__
    assert state.off
    assert state.reasons == ["its 8 graphs are for none of its calls"]


def test_a_function_that_never_had_a_graph_is_left_alone():
    def read(x):
        return x / x.norm().item()

    compiled = taeda.compile(read)
    for _ in range(lookup.GIVES_UP + 8):
        compiled(taeda.ones(2))
    assert compiled.__taeda_compiled__.off
    whole = taeda.compile(lambda x, k: x * k, fullgraph=True)
    for number in range(lookup.limits.graphs + lookup.PATIENCE + 8):
        whole(taeda.ones(2), number)
    assert not whole.__taeda_compiled__.off
