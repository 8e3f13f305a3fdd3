"""Nodes: their users, their place, their end."""

from __future__ import annotations

import operator

import pytest
from fx_programs import made_of

import taeda
from taeda import fx


def test_dead_code_goes_and_writes_stay():
    def program(x):
        taeda.exp(x)
        y = x * 2
        y.add_(1)
        y += 1
        y[0] = 5.0
        return y

    gm = fx.symbolic_trace(program)
    assert gm.graph.eliminate_dead_code()
    gm.recompile()
    assert "exp" not in gm.code
    x = taeda.tensor([1.0, 2.0])
    assert gm(x).equal(program(x))


def test_nodes_may_be_erased_and_added_while_one_goes_through_them():
    graph = made_of([(0, 0, 1), (1, 2, 0), (2, 3, 1)])  # add, mul, add
    for node in graph.nodes:
        if node.op == "call_function" and node.target is not taeda.sub:
            with graph.inserting_after(node):
                new = graph.call_function(taeda.sub, node.args)
            node.replace_all_uses_with(new)
            graph.erase_node(node)
    graph.lint()
    assert {n.target for n in graph.nodes if n.op == "call_function"} == {taeda.sub}


def test_a_used_node_is_not_erased():
    graph = made_of([(0, 0, 1)])
    add = next(iter(graph.find_nodes(op="call_function", target=operator.add)))
    with pytest.raises(RuntimeError, match=r"erase Node add but it still had 1 users"):
        graph.erase_node(add)


def test_text_of_a_graph():
    gm = fx.symbolic_trace(lambda x, y=3: taeda.topk(x + y, 2, dim=-1)[0])
    assert str(gm.graph).splitlines() == [
        "graph():",
        "    %x : [num_users=1] = placeholder[target=x]",
        "    %y : [num_users=1] = placeholder[target=y](default=3)",
        "    %add : [num_users=1] = call_function[target=operator.add](args = (%x, %y), kwargs = {})",
        "    %topk : [num_users=1] = call_function[target=taeda.topk](args = (%add, 2), kwargs = {dim: -1})",
        (
            "    %getitem : [num_users=1] = call_function[target=operator.getitem](args = (%topk, 0), "
            "kwargs = {})"
        ),
        "    return getitem",
    ]
    assert gm.graph._table().splitlines()[2].split()[:3] == ["placeholder", "x", "x"]


def test_a_line_names_the_type_once_after_the_colon():
    graph = fx.Graph()
    x = graph.placeholder("x", type_expr=int)
    y = graph.call_function(operator.add, (x, 1), type_expr=taeda.Tensor)
    assert x.format_node() == "%x : int [num_users=1] = placeholder[target=x]"
    assert y.format_node() == (
        "%add : taeda.Tensor [num_users=0] = call_function[target=operator.add]"
        "(args = (%x, 1), kwargs = {})"
    )
