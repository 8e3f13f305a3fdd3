"""Graphs run node by node."""

from __future__ import annotations

import pytest

import taeda
from taeda import fx, nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x) + 1


def test_interpreters_drop_values_and_empty_boxes():
    gm = fx.symbolic_trace(lambda x, y: (x + y).exp() * 2)
    box = [taeda.ones(1), taeda.ones(1)]
    run = fx.Interpreter(gm)
    assert run.boxed_run(box).equal(gm(taeda.ones(1), taeda.ones(1)))
    assert box == []
    assert not run.env
    kept = fx.Interpreter(gm, garbage_collect_values=False)
    kept.run(taeda.ones(1), taeda.ones(1))
    assert len(kept.env) == 6
    with pytest.raises(RuntimeError, match="takes 'y', and there is no argument"):
        run.run(taeda.ones(1))


def test_an_interpreter_names_what_is_missing():
    gm = fx.symbolic_trace(Model())
    next(iter(gm.graph.find_nodes(op="call_module"))).target = "inner.7.x"
    with pytest.raises(RuntimeError, match=r"reads 'inner\.7'"):
        fx.Interpreter(gm).run(taeda.ones(1, 2))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.max(-1).values,
        lambda x: x.sort(-1).indices,
        lambda x: taeda.stack([x.min(-1).values, x.max(-1).values]),
        lambda x: x[x.shape[0] - 1 :],
    ],
)
def test_named_results_keep_their_names(program):
    gm, x = fx.symbolic_trace(program), taeda.randn(2, 3)
    assert fx.Interpreter(gm).run(x).equal(program(x))
