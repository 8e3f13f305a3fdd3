"""Modules that are called as the exported one was."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.export import export
from taeda.export._kept_modules import InterpreterModule, KeptCall, KeptCallModule
from taeda.fx.graph import Graph


class Product(nn.Module):
    def forward(self, x, *, by):
        return [x * by, 3]


def test_arguments_by_name_in_any_order():
    model = nn.Sequential()
    model.part = Product()
    model.forward = lambda x: model.part(x, by=x)[0]
    program = export(model, (taeda.ones(2),), preserve_module_call_signature=("part",))
    (entry,) = program.module_call_graph[1:]
    nodes = {n.name: n for n in program.graph.nodes}
    call = KeptCall(entry.signature, nodes)
    assert [n.name for n in call.inputs] == ["x", "x"] and len(call.outputs) == 1
    graph = Graph()
    x = graph.placeholder("x")
    graph.output((graph.call_function(taeda.mul, (x, x)),))
    module = KeptCallModule(graph, "Product", entry.signature)
    assert isinstance(module, InterpreterModule) and module.type_name() == "Product"
    product, three = module(taeda.full((2,), 3.0), by=taeda.full((2,), 3.0))
    assert product.tolist() == [9.0, 9.0] and three == 3
    with pytest.raises(TypeError, match="Product gets arguments of the tree"):
        module(taeda.ones(2))
