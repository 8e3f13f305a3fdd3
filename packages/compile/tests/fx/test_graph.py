"""Whatever edits a program makes through the interface, the graph stays well-formed and its code runs."""

from __future__ import annotations

import copy
import operator
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taeda
from taeda import fx, nn

FUNCTIONS = [operator.add, operator.mul, taeda.add, taeda.sub]


def made_of(moves: list[tuple[int, int, int]]) -> fx.Graph:
    graph = fx.Graph()
    values = [graph.placeholder("x"), graph.placeholder("input")]
    for kind, a, b in moves:
        args = (values[a % len(values)], values[b % len(values)])
        values.append(graph.call_function(FUNCTIONS[kind % 4], args))
    graph.output(values[-1])
    return graph


def edit(graph: fx.Graph, kind: int, a: int, b: int) -> None:
    """One of the edits that the interface offers, between nodes chosen by numbers, in the order that makes sense."""
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


def test_random_draws_are_dead_code_only_if_pure_by_choice():
    gm = fx.symbolic_trace(lambda x: (taeda.exp(x), x)[1])
    assert not gm.graph.eliminate_dead_code(lambda node: True)
    assert gm.graph.eliminate_dead_code()


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


def test_insertion_points_come_back_after_errors():
    graph = made_of([(0, 0, 1)])
    x = next(iter(graph.nodes))
    with pytest.raises(KeyError), graph.inserting_before(x):
        raise KeyError
    with graph.inserting_before(graph.output_node()):
        graph.call_function(taeda.neg, (x,))
    graph.lint()
    assert [n.name for n in graph.nodes] == ["x", "input_1", "add", "neg", "output"]


def test_names_are_unique_stable_and_no_words_of_python():
    graph = fx.Graph()
    names = [graph.placeholder(n).name for n in ("x", "x", "x_1", "sum", "class", "3d", "taeda")]
    assert names == ["x", "x_1", "x_2", "sum_1", "class_1", "_3d", "taeda_1"]


def test_text_of_a_graph():
    gm = fx.symbolic_trace(lambda x, y=3: taeda.topk(x + y, 2, dim=-1)[0])
    assert str(gm.graph).splitlines() == [
        "graph():",
        "    %x : [num_users=1] = placeholder[target=x]",
        "    %y : [num_users=1] = placeholder[target=y](default=3)",
        "    %add : [num_users=1] = call_function[target=operator.add](args = (%x, %y), kwargs = {})",
        "    %topk : [num_users=1] = call_function[target=taeda.topk](args = (%add, 2), kwargs = {dim: -1})",
        "    %getitem : [num_users=1] = call_function[target=operator.getitem](args = (%topk, 0), kwargs = {})",
        "    return getitem",
    ]
    assert gm.graph._table().splitlines()[2].split()[:3] == ["placeholder", "x", "x"]


def test_arguments_cannot_be_changed_behind_the_graph():
    gm = fx.symbolic_trace(lambda x: taeda.cat([x, x], dim=0))
    node = gm.graph.find_nodes(op="call_function", target=taeda.cat)[0]
    with pytest.raises(NotImplementedError, match="does not support mutation"):
        node.args[0].append(1)
    with pytest.raises(NotImplementedError, match="does not support mutation"):
        node.kwargs["dim"] = 1


def test_bodies_may_be_transformed():
    gm = fx.symbolic_trace(lambda x: x + 1)
    with gm.graph.on_generate_code(lambda current: lambda body: ["x = x * 2\n", *body]):
        gm.recompile()
    assert gm(taeda.tensor(3.0)).item() == 7
    gm.recompile()
    assert gm(taeda.tensor(3.0)).item() == 4
