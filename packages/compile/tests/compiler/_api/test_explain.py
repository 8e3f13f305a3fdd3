"""What became of a function, in words."""

from __future__ import annotations

import taeda
from taeda import compiler


def test_explain_says_why():
    def f(x):
        return x * x.max().item()

    said = compiler.explain(f)(taeda.ones(2))
    assert said.graph_count == 0
    assert "a value is read" in str(said)
    said = compiler.explain(lambda x: x.sin() + x)(taeda.ones(2))
    assert said.ops_per_graph == [["sin", "add.Tensor"]]
    assert said.graph_break_count == 0
