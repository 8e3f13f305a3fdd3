"""Whatever edits a program makes through the interface, the graph stays well-formed and its code runs."""

from __future__ import annotations

import copy
import pickle

import pytest
from fx_programs import made_of
from hypothesis import given, settings
from hypothesis import strategies as st

import taeda
from taeda import fx, nn


def edit(graph: fx.Graph, kind: int, a: int, b: int) -> None:
    """One of the edits that the interface offers, between nodes chosen by numbers, in the order
    that makes sense.
    """
    nodes = [n for n in graph.nodes if n.op != "output"]
    first, second = sorted((nodes[a % len(nodes)], nodes[b % len(nodes)]))
    match kind % 7:
        case 0:
            with graph.inserting_after(first):
                graph.call_function(taeda.neg, (first,))
        case 1:
            with graph.inserting_before(nodes[-1] if second.op == "placeholder" else second):
                if first is not nodes[-1] and first is not second:
                    graph.call_method("abs", (first,))
        case 2:
            for user in second.replace_all_uses_with(
                first, lambda user: user.op == "call_function"
            ):
                assert first in user.all_input_nodes
        case 3:
            if not second.users and second.op != "placeholder":
                graph.erase_node(second)
        case 4:
            graph.eliminate_dead_code()
        case 5:
            if second.op == "call_function" and first is not second:
                second.args = (first, *second.args[1:])
        case 6:
            if first.op == "call_function" and len(first.args) > 1:
                first.update_arg(1, 2.0)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 30)] * 3), min_size=1, max_size=12),
    st.lists(st.tuples(*[st.integers(0, 30)] * 3), max_size=12),
)
def test_random_edits_keep_lint_and_code(moves, edits):
    graph = made_of(moves)
    for kind, a, b in edits:
        edit(graph, kind, a, b)
        graph.lint()
    assert len(graph.nodes) == len(list(graph.nodes)) == len(list(reversed(graph.nodes)))
    gm = fx.GraphModule(nn.Module(), graph)
    x, y = taeda.tensor([0.5, -1.0]), taeda.tensor([2.0, 0.25])
    wanted = fx.Interpreter(gm).run(x, y)
    for other in (gm, copy.deepcopy(gm), pickle.loads(pickle.dumps(gm))):
        other.graph.lint()
        assert other(x, y).equal(wanted)
        assert other.code == gm.code


def test_random_draws_are_dead_code_only_if_pure_by_choice():
    gm = fx.symbolic_trace(lambda x: (taeda.exp(x), x)[1])
    assert not gm.graph.eliminate_dead_code(lambda node: True)
    assert gm.graph.eliminate_dead_code()


def test_insertion_points_come_back_after_errors():
    graph = made_of([(0, 0, 1)])
    x = next(iter(graph.nodes))
    with pytest.raises(KeyError), graph.inserting_before(x):
        raise KeyError
    with graph.inserting_before(graph.output_node()):
        graph.call_function(taeda.neg, (x,))
    graph.lint()
    assert [n.name for n in graph.nodes] == ["x", "input_1", "add", "neg", "output"]
