"""Checkpoints inside of a compiled function: computed again by the graph, too, or none."""

from __future__ import annotations

import collections
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
    assert [step.op for step in trace.plan.steps].count("tanh") == 2


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


#: what a function counts in: how it begins, and how the function inside counts on and reads it
COUNTERS = {
    "list": ("n = []", "n.append(1)", "len(n)"),
    "longer list": ("n = [1]", "nonlocal n; n += [1]", "len(n)"),
    "popped list": ("n = [5, 4, 3, 2, 1]", "k = n.pop()", "k"),
    "item of a list": ("n = [1]", "n[0] = n[0] + 1", "n[0]"),
    "dict": ("n = {'k': 1}", "n['k'] += 1", "n['k']"),
    "set": ("n = set()", "n.add(len(n))", "len(n)"),
    "deque": ("n = collections.deque()", "n.append(1)", "len(n)"),
    "attribute": ("n = Thing()\n    n.k = 1", "n.k += 1", "n.k"),
    "variable": ("n = 1", "nonlocal n; n += 1", "n"),
    "iterator": ("n = iter([5, 4, 3, 2, 1])", "k = next(n)", "k"),
    "generator": ("n = (k + 1 for k in range(6))", "k = next(n)", "k"),
    "tensor": ("n = taeda.ones(4)", "n.add_(1)", "n.clone()"),
    "view": ("n = taeda.ones(5)\n    v = n[1:]", "v.mul_(2)", "n[:4].clone()"),
    "view inside": ("n = taeda.ones(4)", "n[1:].add_(1)", "n.clone()"),
    "out": ("n = taeda.ones(4)", "taeda.add(n, 1, out=n)", "n.clone()"),
    "element": ("n = taeda.ones(4)", "n[0] = n[0] + 1", "n.clone()"),
    "buffer": ("n = kept", "n.add_(1)", "n.clone()"),
    "statistics": ("n = norm.running_mean", "norm(x.reshape(2, 2))", "n.sum()"),
    "gradient": ("n = leaf", "(n * 2).sum().backward()", "n.grad.clone()"),
}
WAYS = {
    "result": "return y * 2",
    "what is there afterwards": "return y * {read}",
    "backward inside": "z = x.detach().requires_grad_()\n"
    "    checkpoint(g, z, use_reentrant=False).sum().backward()\n    return y + z.grad",
    "twice": "return checkpoint(g, y, use_reentrant=False)",
}


class Thing:
    pass


def counting(name, way, path):
    """A function whose checkpoint counts how often it runs."""
    begin, count, read = COUNTERS[name]
    last = WAYS[way].format(read="1" if read == "k" else read)
    text = (
        f"def f(x):\n    {begin}\n    def g(x):\n        {count}\n"
        f"        return (x * {read}).sin()\n"
        f"    y = checkpoint(g, x, use_reentrant=False)\n    {last}\n"
    )
    path.write_text(text)
    space = {
        "taeda": taeda, "collections": collections, "checkpoint": checkpoint, "Thing": Thing,
        "kept": taeda.ones(4), "norm": nn.BatchNorm1d(2), "leaf": taeda.ones(4, requires_grad=True),
    }  # fmt: skip
    exec(compile(text, str(path), "exec"), space)
    return space["f"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", COUNTERS)
def test_a_function_that_is_changed_by_running_runs_as_often_as_it_says(name, way, tmp_path):
    told = []
    for wrap in (lambda f: f, taeda.compile):
        f = wrap(counting(name, way, tmp_path / "program.py"))
        found = []
        for number in range(5):
            x = (taeda.arange(4.0) + number).requires_grad_()
            try:
                result = f(x * 1)
                result.sum().backward()
            except (RuntimeError, StopIteration) as error:
                result = error
            found.append((repr(result), repr(x.grad)))
        told.append(found)
    assert told[0] == told[1]


def test_what_a_checkpoint_made_itself_may_change(tmp_path):
    path = tmp_path / "program.py"
    inner = "n, t = [], taeda.ones(4)\n    n.append(t)\n    t.add_(1)\n"
    path.write_text(
        f"def g(x):\n    {inner}    return (x * t * len(n)).sin()\n"
        "def f(x):\n    return checkpoint(g, x, use_reentrant=False) * 2\n"
    )
    space = {"taeda": taeda, "checkpoint": checkpoint}
    exec(compile(path.read_text(), str(path), "exec"), space)
    f = taeda.compile(space["f"])
    for _ in range(4):
        f(taeda.ones(4, requires_grad=True) * 1).sum().backward()
    assert has_graph(f)
