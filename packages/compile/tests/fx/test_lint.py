"""What holds in every well-formed graph, and the words where it does not."""

from __future__ import annotations

import operator

import pytest
from fx_programs import made_of

from taeda import fx, nn


def test_lint_finds_foreign_later_and_missing():
    graph, other = made_of([(0, 0, 1)]), made_of([(1, 0, 1)])
    node = graph.find_nodes(op="call_function", target=operator.add)[0]
    before = node.args
    node.args = (next(iter(other.nodes)), 1)
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        graph.lint()
    node.args = before
    graph.lint()
    next(iter(graph.nodes)).prepend(node)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()
    gm = fx.GraphModule(nn.Module(), made_of([(0, 0, 1)]))
    with gm.graph.inserting_before(gm.graph.output_node()), pytest.warns(UserWarning, match="w"):
        gm.graph.get_attr("w")
    with pytest.raises(RuntimeError, match="nonexistent attribute w"):
        gm.graph.lint()
