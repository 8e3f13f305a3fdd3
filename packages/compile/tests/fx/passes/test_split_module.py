from __future__ import annotations

import pytest

import taeda
from taeda import fx, nn
from taeda.fx.passes.split_module import split_module


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Sequential(nn.Linear(3, 3)), nn.Linear(3, 3)
        self.weight = nn.Parameter(taeda.randn(3))

    def forward(self, x, y=None):
        a = self.one(x)
        b = (a * self.weight).relu()
        return self.two(a + b), a


def test_parts_compute_the_whole():
    model, x = Model(), taeda.randn(2, 3)
    gm, names = fx.symbolic_trace(model), {}
    keys = {"one_0": "in", "mul": "mid", "relu": "mid"}
    parts = split_module(gm, gm, lambda n: keys.get(n.name, "out"), names)
    parts.graph.lint()
    for got, wanted in zip(parts(x), gm(x), strict=True):
        assert got.equal(wanted)
    called = [n.target for n in parts.graph.find_nodes(op="call_module")]
    assert called == ["submod_in", "submod_mid", "submod_out"]
    assert names == {"submod_in.one.0": "one.0", "submod_out.two": "two"}
    assert parts.submod_out.two is model.two
    assert parts.weight is model.weight
    assert len({id(p) for p in parts.parameters()}) == 5


def test_modules_come_from_the_program_itself():
    model, x = Model(), taeda.randn(2, 3)
    gm = fx.symbolic_trace(model)
    parts = split_module(gm, None, lambda n: int(n.name != "one_0"))
    assert parts(x)[0].equal(model(x)[0]) and parts.training is gm.training


def test_several_values_leave_a_part_under_their_names():
    gm = fx.symbolic_trace(lambda x: ((y := x + 1) * (z := x - 1), y, z))
    parts = split_module(gm, gm, lambda n: int(n.name == "mul"))
    assert [n.name for n in parts.graph.find_nodes(op="call_module")] == ["submod_0", "submod_1"]
    assert {"add", "sub"} <= {n.name for n in parts.graph.nodes}
    assert [t.item() for t in parts(taeda.tensor(3.0))] == [8, 4, 2]


def test_parts_run_when_what_they_need_is_there():
    gm = fx.symbolic_trace(lambda x, y: (x.sin() + (y.cos() * 2)).abs())
    keys = {"sin": 0, "cos": 1, "mul": 1, "add": 0, "abs_1": 2}
    with pytest.raises(RuntimeError, match="leave keep_original_order out"):
        split_module(gm, gm, lambda n: keys[n.name], keep_original_order=True)
    parts = split_module(gm, gm, lambda n: keys[n.name])
    called = [n.target for n in parts.graph.find_nodes(op="call_module")]
    assert called == ["submod_1", "submod_0", "submod_2"]
    x, y = taeda.randn(3), taeda.randn(3)
    assert parts(x, y).equal(gm(x, y))


def test_a_cycle_is_refused():
    gm = fx.symbolic_trace(lambda x: x.sin().cos().tan())
    with pytest.raises(RuntimeError, match="cycle exists between partitions: submod_0, submod_1"):
        split_module(gm, gm, lambda n: int(n.name == "cos"))


def test_modules_keep_their_modes():
    model = Model().eval()
    gm = fx.symbolic_trace(model)
    parts = split_module(gm, gm, lambda n: 0)
    assert not any(m.training for m in parts.modules())
    assert not model.two.training
