"""Functions whose last statements stay as they are."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.compiler import Stop

LOG: list[float] = []


def logs(x):
    y = x.sin() * 2
    z = y.exp() + x
    LOG.append(z.sum().item())
    return z


def state_of(f):
    return f.__taeda_compiled__


def called(f, count=12, **given):
    LOG.clear()
    found = [f(taeda.full((3,), float(n)), **given).tolist() for n in range(count)]
    return found, list(LOG)


def test_the_first_part_is_a_graph_and_the_rest_happens():
    f = taeda.compile(logs)
    assert called(f) == called(logs)
    head = state_of(f).split.head
    assert [t.trusted for traces in head.traces.values() for t in traces] == [True]


def test_calls_by_name_run_the_whole():
    f = taeda.compile(logs)
    called(f)
    LOG.clear()
    assert f(x=taeda.zeros(2)).tolist() == [1, 1]
    assert LOG == [2]


def test_a_function_that_gets_another_code():
    def step(x):
        y = x * 2 + 1
        z = y * y
        LOG.append(z.sum().item())
        return z

    def other(x):
        return x - 1

    f = taeda.compile(step)
    called(f)
    step.__code__ = other.__code__
    assert f(taeda.ones(2)).tolist() == [0, 0]


def test_a_first_part_without_a_graph_is_given_up_for_units():
    class Reads(nn.Module):
        def forward(self, x):
            return (x * x.sum().item()).sin() + 1

    inner, net = Reads(), nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def step(x):
        y = net(x)
        z = y.view(-1)
        LOG.append(z.sum().item())
        return inner(z)

    f = taeda.compile(step)
    assert called(f) == called(step)


def test_what_is_read_in_the_first_part_is_watched():
    scale = {"by": 2.0}

    def step(x):
        y = x * scale["by"]
        z = y + 1
        LOG.append(z.sum().item())
        return z

    f = taeda.compile(step)
    for n in range(12):
        scale["by"] = 2.0 if n < 8 else 5.0
        assert f(taeda.ones(1)).item() == scale["by"] + 1


def test_a_method_and_its_object():
    class Counter:
        def __init__(self):
            self.calls, self.scale = 0, 3.0

        def step(self, x):
            y = x * self.scale
            z = y.tanh() + y
            self.calls += 1
            return z * self.calls

    counter, other = Counter(), Counter()
    f = taeda.compile(counter.step)
    for n in range(8):
        counter.scale = other.scale = 3.0 if n < 5 else 4.0
        assert f(taeda.ones(2)).equal(other.step(taeda.ones(2)))
    assert counter.calls == 8
    assert state_of(f).split is not None


def test_an_error_of_the_last_statements():
    def step(x):
        y = x + 1
        z = y * 2
        if z.sum().item() > 20:
            raise ValueError("too large")
        return z

    f = taeda.compile(step)
    for n in range(12):
        try:
            f(taeda.full((2,), float(n)))
            raised = False
        except ValueError:
            raised = True
        assert raised == ((n + 1) * 4 > 20)


def test_explain_tells_of_the_first_part():
    LOG.clear()
    told = taeda.compiler.explain(logs)(taeda.ones(2))
    assert told.first_part.graph_count == told.graph_count == 1
    assert "before that line: 1 graphs" in str(told)
    assert len(LOG) < 8


def test_fullgraph_refuses():
    with pytest.raises(Stop, match="no graph of all"):
        taeda.compile(logs, fullgraph=True)(taeda.ones(2))


def test_reset_forgets_the_parts():
    f = taeda.compile(logs)
    called(f)
    state_of(f).reset()
    assert state_of(f).split is None
    assert called(f) == called(logs)
