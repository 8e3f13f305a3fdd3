"""Sizes of every result as formulas."""

from __future__ import annotations

import pytest
from program_models import CASES, normal

import taeda
from taeda import nn
from taeda.export import Dim, export
from taeda.fx.interpreter import Interpreter


class Sees(Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.shapes = {}

    def run_node(self, n):
        made = super().run_node(n)
        if isinstance(made, taeda.Tensor):
            self.shapes[n] = tuple(made.shape)
        return made


@pytest.mark.parametrize("name", ["mlp", "convolutions", "recurrent"])
def test_formulas_are_the_sizes_of_a_run(name):
    case = CASES[name]
    program = export(case.make(), case.given(1), dynamic_shapes=case.shapes)
    state = {**program.state_dict, **program.constants}
    for n in (1, 3, 7):
        seen = Sees(program.graph_module)
        specs = program.graph_signature.input_specs
        seen.run(*(state[s.target] for s in specs if s.target), *case.given(n))
        for node, shape in seen.shapes.items():
            if node.op != "output":
                assert tuple(e.value({"s0": n}) for e in node.meta["shape"]) == shape, node


def test_a_size_of_two_symbols():
    flat = nn.Flatten(0)
    shapes = ({0: Dim("a"), 1: Dim("b")},)
    program = export(flat, (normal(2, 3),), dynamic_shapes=shapes)
    last = [n for n in program.graph.nodes if n.op == "call_function"][-1]
    assert [e.value({"s0": 5, "s1": 7}) for e in last.meta["shape"]] == [35]
