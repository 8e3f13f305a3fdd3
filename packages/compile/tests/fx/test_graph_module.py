from __future__ import annotations

import copy
import pickle

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


def test_assigning_a_graph_recompiles_and_editing_waits():
    gm = fx.symbolic_trace(lambda x: x + 1)
    node = next(n for n in gm.graph.nodes if n.op == "call_function")
    node.update_arg(1, 5)
    assert gm(taeda.tensor(1.0)).item() == 2
    gm.recompile()
    assert gm(taeda.tensor(1.0)).item() == 6
    gm.graph = fx.symbolic_trace(lambda x: x * 10).graph
    assert gm(taeda.tensor(1.0)).item() == 10


def test_each_has_a_forward_of_its_own():
    a, b = fx.symbolic_trace(lambda x: x + 1), fx.symbolic_trace(lambda x: x * 3)
    c = copy.deepcopy(b)
    c.graph = fx.symbolic_trace(lambda x: x - 1).graph
    x = taeda.tensor(2.0)
    assert (a(x).item(), b(x).item(), c(x).item()) == (3, 6, 1)
    assert isinstance(c, fx.GraphModule)


def test_modules_are_shared_with_the_root_and_a_copy_has_its_own():
    model = Model()
    gm = fx.symbolic_trace(model)
    assert dict(gm.named_parameters()).keys() == {"inner.0.weight", "inner.0.bias"}
    assert gm.inner[0] is model.inner[0] if isinstance(gm.inner, nn.Sequential) else True
    other = copy.deepcopy(gm)
    with taeda.no_grad():
        next(other.parameters()).zero_()
    assert next(gm.parameters()).abs().sum() > 0


def test_submodules_come_and_go():
    gm = fx.symbolic_trace(Model())
    assert gm.add_submodule("extra.deep", nn.Linear(2, 2))
    assert isinstance(gm.get_submodule("extra.deep"), nn.Linear)
    gm.delete_all_unused_submodules()
    assert not hasattr(gm, "extra")
    assert {name for name, _ in gm.named_modules()} == {"", "inner", "inner.0", "inner.1"}
    assert gm.delete_submodule("inner.1")
    assert not gm.delete_submodule("inner.1")
    with pytest.raises(RuntimeError, match=r"nonexistent attribute 1"):
        gm.graph.lint()


def test_a_root_may_be_a_dict():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(
        graph.call_function(taeda.add, (graph.call_module("a.b", (x,)), graph.get_attr("w")))
    )
    gm = fx.GraphModule({"a.b": nn.Identity(), "w": taeda.ones(1)}, graph)
    assert gm(taeda.ones(1)).item() == 2
    with pytest.raises(RuntimeError, match="target w but that target was not provided"):
        fx.GraphModule({"a.b": nn.Identity()}, graph)
    with pytest.raises(AttributeError):
        fx.GraphModule(nn.Module(), graph)


def test_what_passes_know_of_the_whole_goes_into_copies():
    gm = fx.symbolic_trace(nn.Linear(2, 2))
    assert gm.meta == {}
    gm.meta["dialect"] = "mine"
    for other in (copy.copy(gm), copy.deepcopy(gm), pickle.loads(pickle.dumps(gm))):
        assert other.meta == {"dialect": "mine"}
