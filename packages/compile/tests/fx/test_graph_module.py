from __future__ import annotations

import copy
import traceback

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


def test_errors_show_the_line_of_the_generated_code():
    gm = fx.symbolic_trace(lambda x: taeda.matmul(x, x))
    with pytest.raises(RuntimeError) as caught:
        gm(taeda.ones(2, 3))
    assert "matmul = taeda.matmul(x, x)" in "".join(traceback.format_exception(caught.value))
    with pytest.raises(RuntimeError) as caught:
        fx.Interpreter(gm).run(taeda.ones(2, 3))
    assert "While executing %matmul" in caught.value.__notes__[0]


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
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter y"):
        run.run(taeda.ones(1))


def test_an_interpreter_names_what_is_missing():
    gm = fx.symbolic_trace(Model())
    next(iter(gm.graph.find_nodes(op="call_module"))).target = "inner.7.x"
    with pytest.raises(RuntimeError, match=r"nonexistent target inner\.7"):
        fx.Interpreter(gm).run(taeda.ones(1, 2))


def test_readable_text(capsys):
    text = fx.symbolic_trace(Model()).print_readable()
    assert text.startswith("class Model(taeda.nn.Module):")
    assert capsys.readouterr().out.strip() == text.strip()
