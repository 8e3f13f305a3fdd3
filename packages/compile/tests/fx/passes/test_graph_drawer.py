from __future__ import annotations

import re

import pytest

import taeda
from taeda import fx, nn
from taeda.fx.passes.graph_drawer import FxGraphDrawer
from taeda.fx.passes.shape_prop import ShapeProp
from taeda.fx.passes.split_module import split_module


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 3)
        self.shift = nn.Parameter(taeda.ones(3))

    def forward(self, x):
        return (self.linear(x) + self.shift).split(2, dim=1)


def drawn(gm, **options):
    return FxGraphDrawer(gm, "g", **options).get_dot_graph().to_string()


def test_a_box_for_each_node_and_an_arrow_for_each_use():
    gm = fx.symbolic_trace(Model())
    text = drawn(gm)
    boxes = re.findall(r'^  "(\w+)" \[label', text, re.MULTILINE)
    arrows = re.findall(r'^  "(\w+)" -> "(\w+)"$', text, re.MULTILINE)
    assert boxes == [n.name for n in gm.graph.nodes]
    wanted = [(u.name, n.name) for n in gm.graph.nodes for u in n.all_input_nodes]
    assert arrows == wanted
    assert "self.linear(%x)\\lLinear\\lweight: (3, 2) taeda.float32" in text
    assert "split(%add, 2, dim=1)" in text


def test_options_and_shapes():
    gm = fx.symbolic_trace(Model())
    ShapeProp(gm).propagate(taeda.ones(4, 2))
    text = drawn(gm, ignore_getattr=True, ignore_parameters_and_buffers=True)
    assert '"shift" [' not in text and "weight" not in text
    assert "taeda.float32 (4, 3)" in text
    assert "taeda.float32 (4, 2)\\ltaeda.float32 (4, 1)" in text  # a tuple's entries


def test_text_is_escaped():
    graph = fx.Graph()
    graph.output(graph.call_function(print, (graph.placeholder("x"), 'a "b" \\ c\nd')))
    text = drawn(fx.GraphModule({}, graph))
    label = next(line for line in text.splitlines() if '"print_1" [' in line)
    assert re.fullmatch(r'  "print_1" \[label="(?:[^"\\]|\\.)*", fillcolor=\w+\]', label)


def test_graph_modules_inside(tmp_path):
    gm = fx.symbolic_trace(Model())
    drawer = FxGraphDrawer(split_module(gm, gm, lambda n: 0), "g")
    assert sorted(drawer.get_all_dot_graphs()) == ["g", "g_submod_0"]
    assert "self.linear" in str(drawer.get_submod_dot_graph("submod_0"))
    assert "self.linear(" not in str(drawer.get_main_dot_graph())
    with pytest.raises(KeyError):
        drawer.get_dot_graph("other")
    drawer.get_dot_graph().write_raw(tmp_path / "g.dot")
    assert (tmp_path / "g.dot").read_text() == str(drawer.get_dot_graph())
