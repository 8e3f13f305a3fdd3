"""Child modules have graphs where the whole has none: same bits, and nothing is left behind."""

from __future__ import annotations

import copy
import gc
import pickle
import random

import pytest

import taeda
from taeda import nn
from taeda.compiler import explain
from taeda.compiler._call import compiled as calls
from taeda.compiler._call import trial


@pytest.fixture(autouse=True)
def always_graphs(monkeypatch):
    """A unit stays one, however its time compares on a busy machine."""
    monkeypatch.setattr(trial, "TRIAL", range(0))


class Block(nn.Module):
    """One of several shapes: a chain, a residual, an input used twice, weights used twice, draws
    and a buffer.
    """

    def __init__(self, kind, width=6):
        super().__init__()
        self.kind = kind
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        self.inner = nn.Sequential(self.first, nn.Tanh(), self.second)
        self.norm, self.drop = nn.BatchNorm1d(width), nn.Dropout(0.3)

    def forward(self, x):
        if self.kind == "chain":
            return self.second(self.first(x).tanh()).sigmoid()
        if self.kind == "residual":
            return x + self.inner(x)
        if self.kind == "twice":
            return self.inner(x) * self.second(x).sigmoid()
        if self.kind == "shared":
            return self.first(self.first(x).tanh()) * 0.7
        if self.kind == "items":
            return self.inner(x) / (1 + abs(self.first(x).mean().item()))
        return self.drop(self.norm(self.first(x)))


KINDS = ["chain", "residual", "twice", "shared", "items", "draws"]


class Model(nn.Module):
    def __init__(self, kinds, skips):
        super().__init__()
        self.blocks = nn.ModuleList([Block(kind) for kind in kinds])
        self.skips = skips

    def forward(self, x):
        seen = [x]
        for block, skip in zip(self.blocks, self.skips, strict=True):
            y = block(seen[-1])
            if y.abs().max().item() > 50:  # a value: there is no graph of the whole
                y = y / 50
            seen.append(y + 0.3 * seen[skip % len(seen)])
        return seen[-1]


def steps(model, run, calls, training):
    """Results, gradients and state of some calls."""
    found = []
    taeda.manual_seed(7)
    model.train(training)
    for _ in range(calls):
        x = taeda.randn(5, 6, requires_grad=True)
        y = run(x)
        y.square().sum().backward()
        found += [y.detach(), x.grad]
    return [
        *found,
        *(p.grad for p in model.parameters() if p.grad is not None),
        *model.state_dict().values(),
    ]


@pytest.mark.parametrize("seed", range(12))
def test_every_bit_of_random_models(seed):
    chance = random.Random(seed)
    kinds = [chance.choice(KINDS) for _ in range(4)]
    taeda.manual_seed(seed)
    plain = Model(kinds, [chance.randrange(4) for _ in kinds])
    other = copy.deepcopy(plain)
    compiled = taeda.compile(other)
    for training in (True, False):
        found = steps(other, compiled, 5, training)
        expected = steps(plain, plain, 5, training)
        assert len(found) == len(expected)
        assert all(a.equal(b) for a, b in zip(found, expected, strict=True)), kinds
    with taeda.no_grad():
        for _ in range(4):
            x = taeda.randn(5, 6)
            assert compiled(x).equal(plain(x))


def units_of(compiled, *args):
    return {n: u.graph_count for n, u in explain(compiled)(*args).units.items()}


def test_the_units_are_told_with_reasons():
    model = Model(["chain", "residual", "twice", "items"], [0, 0, 0, 0])
    compiled = taeda.compile(model)
    said = explain(compiled)(taeda.randn(5, 6))
    assert "a value is read" in said.break_reasons[0]
    found = {name: unit.graph_count for name, unit in said.units.items()}
    assert {name: count for name, count in found.items() if count} == {
        "blocks.0": 1,
        "blocks.1": 1,
        "blocks.2": 1,
        "blocks.3.inner": 1,
    }
    assert said.graph_count == 4
    assert "unit blocks.0: 1 graphs" in str(said)
    assert "one operation" in str(said.units["blocks.3.first"])
    with taeda.no_grad():
        assert units_of(taeda.compile(Model(["residual"], [0])), taeda.randn(5, 6)) == {
            "blocks.0": 1
        }


def test_a_function_leaves_its_modules_to_units():
    model = nn.Sequential(nn.Linear(6, 6), nn.Tanh())

    @taeda.compile
    def f(x):
        return model(x) / x.norm().item()

    x = taeda.randn(2, 6)
    for _ in range(5):
        assert f(x).equal(model(x) / x.norm().item())
    assert units_of(f, x) == {"Sequential": 1}


def test_calls_from_outside_see_no_unit():
    model = Model(["chain"], [0])
    compiled = taeda.compile(model)
    for _ in range(4):
        compiled(taeda.randn(5, 6))
    block = model.blocks[0]
    state = block._compiled_call_impl.__taeda_compiled__
    (trace,) = [t for found in state.traces.values() for t in found]
    runs = trace.runs
    model(taeda.randn(5, 6))
    assert trace.runs == runs
    compiled(taeda.randn(5, 6))
    assert trace.runs == runs + 1
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(block))):
        assert all(m._compiled_call_impl is None for m in other.modules())


def left_behind(model):
    return [
        k for m in model.modules() for k in ("_hooked", "_compiled_call_impl") if k in m.__dict__
    ]


@pytest.mark.parametrize("how", ["reset", "collected"])
def test_nothing_is_left_behind(how):
    model = Model(["chain", "residual"], [0, 0])
    compiled = taeda.compile(lambda x: model(x))
    for _ in range(5):
        compiled(taeda.randn(5, 6))
    assert left_behind(model)
    if how == "reset":
        taeda.compiler.reset()
    else:
        del compiled
        gc.collect()
    assert left_behind(model) == []


@pytest.mark.parametrize("faster", ["module", "unit"])
def test_the_faster_one_stays(monkeypatch, faster):
    """By a clock that goes on when graphs run, or when modules do."""
    model = Model(["chain"], [0])
    compiled = taeda.compile(model)
    now = [0.0]
    monkeypatch.setattr(trial.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(trial, "TRIAL", range(6, 14))

    def slow(function, seconds):
        def call(*args, **kwargs):
            now[0] += seconds
            return function(*args, **kwargs)

        return call

    run = calls.Trace.run
    monkeypatch.setattr(calls.Trace, "run", slow(run, 2.0 if faster == "module" else 1.0))
    monkeypatch.setattr(calls, "plain", slow(calls.plain, 1.5))
    for _ in range(20):
        compiled(taeda.randn(5, 6))
    if faster == "unit":
        assert left_behind(model) and compiled._compiled.units.alive
    else:
        assert left_behind(model) == [] and compiled._compiled.off
        said = [
            reason for unit in compiled._compiled.units.states.values() for reason in unit.reasons
        ]
        assert said == ["its graph takes 2000000.0 us, the module itself 1500000.0 us"]


def test_hooks_and_other_compilers_keep_their_modules():
    model = Model(["chain", "chain"], [0, 0])
    seen = []
    model.blocks[0].register_forward_hook(lambda *a: seen.append(1))
    model.blocks[1].compile()
    own = model.blocks[1]._compiled_call_impl
    compiled = taeda.compile(model)
    for _ in range(4):
        compiled(taeda.randn(5, 6))
    assert len(seen) == 4 and model.blocks[1]._compiled_call_impl is own
    assert compiled._compiled.units is None or not compiled._compiled.units.alive


def test_a_hook_that_comes_later_is_called():
    model = Model(["chain"], [0])
    compiled, seen = taeda.compile(model), []
    for _ in range(4):
        compiled(taeda.randn(5, 6))
    handle = model.blocks[0].register_forward_hook(lambda *a: seen.append(1))
    compiled(taeda.randn(5, 6))
    model(taeda.randn(5, 6))
    assert seen == [1, 1]
    handle.remove()
    x = taeda.randn(5, 6)
    assert compiled(x).equal(model(x)) and seen == [1, 1]


def test_fullgraph_has_no_units():
    model = Model(["chain"], [0])
    with pytest.raises(taeda.compiler.Stop, match="a value is read"):
        taeda.compile(model, fullgraph=True)(taeda.randn(5, 6))
    assert left_behind(model) == []
