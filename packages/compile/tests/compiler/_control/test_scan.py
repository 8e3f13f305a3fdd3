"""Which scans are one call of a graph, by the recorder that keeps them."""

from __future__ import annotations

import pytest

import taeda
from taeda import _higher_order_ops as ops
from taeda.compiler._graph.recorder import Recorder
from taeda.fx.experimental._fakes import FakeCapture
from taeda.fx.experimental.proxy_tensor import make_fx

X = taeda.arange(6.0).view(3, 2)


def total(carry, part):
    return carry + part, carry * part


def program(x):
    return ops.scan(total, x.new_zeros(2), x)


def names(graph):
    return [n.name for n in graph.graph.nodes if n.op == "call_function"]


@pytest.fixture
def kept(monkeypatch):
    monkeypatch.setattr(FakeCapture, "keeps_scans", True)


def test_no_recorder_keeps_scans_by_itself():
    assert not Recorder.keeps_scans and not FakeCapture.keeps_scans
    assert "scan" not in names(make_fx(program, tracing_mode="fake")(X))
    assert "scan" not in names(make_fx(program)(X))


@pytest.mark.parametrize("mode", ["fake", "symbolic"])
def test_one_call_with_a_graph_for_the_step(kept, mode):
    made = make_fx(program, tracing_mode=mode)(X)
    assert names(made).count("scan") == 1
    step = made.scan_combine_graph_0
    assert names(step) == ["add", "mul"]
    for x in (X, taeda.ones(5, 2)) if mode == "symbolic" else (X,):
        assert all(a.equal(b) for a, b in zip(made(x), program(x), strict=True))


def test_a_map_has_no_carry(kept):
    made = make_fx(lambda x, k: ops.map(lambda row: row * k, x), tracing_mode="symbolic")(X, X[0])
    assert "map_1" in names(made) and made(X, X[0]).equal(X * X[0])


@pytest.mark.parametrize(
    "step",
    [lambda c, p: (c.add_(p), p + 1), lambda c, p: (c + taeda.rand(2), p + 1)],
    ids=["writes", "draws"],
)
def test_a_step_that_does_more_than_compute_is_no_part_of_a_graph(kept, step):
    made = make_fx(lambda x: ops.scan(step, x.new_zeros(2), x), tracing_mode="fake")(X)
    assert "scan" not in names(made)
