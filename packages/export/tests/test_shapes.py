"""Sizes of every result as formulas."""

from __future__ import annotations

import pytest
from program_models import CASES, normal

import taeda
from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export import Dim, export, save
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


def test_a_size_that_no_formula_explains_is_no_number(tmp_path):
    class Cut(nn.Module):
        def forward(self, x):
            return x[: x.shape[0] * x.shape[0] // 7].sin()

    program = export(Cut(), (taeda.ones(12),), dynamic_shapes={"x": {0: Dim("n", min=4, max=200)}})
    last = program.graph.output_node().args[0][0]
    assert [str(e)[0] for e in last.meta["shape"]] == ["u"]
    for n in (5, 20, 33):
        assert taeda.equal(program.module()(taeda.arange(float(n))), Cut()(taeda.arange(float(n))))
    with pytest.raises(UserError, match=r"sizes explains a size of \w+ \(u\d\)"):
        save(program, tmp_path / "cut.pt2")
    assert not (tmp_path / "cut.pt2").exists()


def test_a_range_begins_at_two_where_formulas_are_others_at_one():
    module = nn.Module()
    module.forward = lambda x: x.squeeze() + 1
    program = export(module, (normal(4, 3),), dynamic_shapes=({0: Dim("n")},))
    assert program.range_constraints["s0"].lower == 2
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(normal(1, 3))
