"""Checkpoints inside of a compiled function: computed again by the graph, too, or none."""

from __future__ import annotations

import functools
import itertools

import pytest

import taeda
from taeda import nn
from taeda.utils.checkpoint import checkpoint


def net(draws=False):
    return nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5) if draws else nn.Tanh(), nn.Linear(4, 4))


def whole_step(call, model):
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = call(model, x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def nested(call, model):
    return lambda x: call(lambda y: model(call(model, y)) * y, x * 2)


def inside_of_autocast(call, model):
    def f(x):
        with taeda.autocast("cpu", dtype=taeda.bfloat16):
            return call(model, x).float().sin()

    return f


def forward(call, model):
    return lambda x: call(lambda y, scale: model(y) * scale, x, scale=2.0)


PROGRAMS = {f.__name__: f for f in (forward, nested, inside_of_autocast)}


def run(make, options, *, draws, compiled):
    taeda.manual_seed(0)
    model = net(draws)
    f = make(functools.partial(checkpoint, use_reentrant=False, **options), model)
    f = taeda.compile(f) if compiled else f
    told = []
    for number in range(5):
        result = f(taeda.arange(8.0).reshape(2, 4) / 10 + number)
        if make is not whole_step:
            result.sum().backward()
        told.append((result.tolist(), [p.grad.tolist() for p in model.parameters()]))
    told.append((taeda.rand(1).item(), [p.tolist() for p in model.parameters()]))
    return told, f


def has_graph(f):
    state = f.__taeda_compiled__
    return any(t.trusted for traces in state.traces.values() for t in traces)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_backward_computes_again_is_part_of_the_graph(name):
    want, _ = run(PROGRAMS[name], {}, draws=False, compiled=False)
    got, f = run(PROGRAMS[name], {}, draws=False, compiled=True)
    assert got == want
    assert has_graph(f)


def test_a_graph_of_a_whole_step_computes_twice():
    want, _ = run(whole_step, {}, draws=False, compiled=False)
    got, f = run(whole_step, {}, draws=False, compiled=True)
    assert got == want
    (trace, *_) = itertools.chain(*f.__taeda_compiled__.traces.values())
    assert [step.op for step in trace.steps].count("tanh") == 2


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("make", [forward, whole_step])
def test_where_numbers_are_drawn_inside_there_is_no_graph(make, keeps):
    options = {"preserve_rng_state": keeps}
    want, _ = run(make, options, draws=True, compiled=False)
    got, f = run(make, options, draws=True, compiled=True)
    assert got == want
    assert not has_graph(f)
    assert "numbers are drawn inside of a checkpoint" in f.__taeda_compiled__.reasons[0]


@pytest.mark.parametrize(
    "options", [{"debug": True}, {"determinism_check": "none"}, {"early_stop": False}], ids=str
)
def test_other_options_leave_the_program_as_it_is(options):
    want, _ = run(whole_step, options, draws=False, compiled=False)
    got, f = run(whole_step, options, draws=False, compiled=True)
    assert got == want
    assert not has_graph(f)


def test_an_effect_inside_is_no_part_of_a_graph():
    log, model = [], net()

    def noted(y):
        log.append(1)
        return model(y) * len(log)

    f = taeda.compile(lambda x: checkpoint(noted, x, use_reentrant=False).sum())
    for _ in range(4):
        f(taeda.ones(2, 4)).backward()
    assert len(log) == 8
    assert not has_graph(f)
