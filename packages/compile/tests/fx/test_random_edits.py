"""Whatever edits a graph goes through, its promises hold: lint, users, code, pickles, results."""

from __future__ import annotations

import copy
import itertools
import operator
import pickle
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import taeda
from taeda import fx
from taeda.fx.node import map_arg

UNARY = (taeda.sin, taeda.neg, taeda.tanh)
BINARY = (taeda.add, operator.mul, taeda.maximum)
INPUTS = (taeda.tensor([0.5, -1.25]), taeda.tensor([2.0, 0.75]))


def value_of(graph: fx.Graph) -> Any:
    """What the graph says, computed by nothing but its nodes and arguments: the oracle."""
    inputs, env = iter(INPUTS), {}
    for node in graph.nodes:
        args = map_arg(node.args, env.__getitem__)
        if node.op == "placeholder":
            env[node] = next(inputs)
        elif node.op == "output":
            return args[0]
        elif node.op == "call_method":
            env[node] = getattr(args[0], node.target)(*args[1:])
        else:
            env[node] = node.target(*args)
    raise AssertionError("no output")


def equal(a: Any, b: Any) -> bool:
    return all(x.equal(y) for x, y in zip(a, b, strict=True))


class Editor:
    """Draws edits; every one keeps the graph well formed, if the graph does what it promises."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.graph = fx.Graph()
        self.inputs = [self.graph.placeholder("x"), self.graph.placeholder("y")]
        self.graph.output((self.inputs[0],))

    def choose(self, among: Any) -> Any:
        return among[self.draw(st.integers(0, len(among) - 1))]

    @property
    def inner(self) -> list[fx.Node]:
        return [n for n in self.graph.nodes if n.op not in ("placeholder", "output")]

    def before(self, node: fx.Node) -> list[fx.Node]:
        """What stands before a node, by order in the list."""
        nodes = list(self.graph.nodes)
        return [n for n in nodes[: nodes.index(node)] if n.op != "output"]

    def insert(self) -> None:
        """A node somewhere; perhaps others use it in place of what they used."""
        place = self.choose([*self.inner, self.graph.output_node()])
        known = self.before(place)
        with self.graph.inserting_before(place):
            function = self.choose((*UNARY, *BINARY, "cos"))
            count = 2 if function in BINARY else 1
            args = tuple(self.choose(known) for _ in range(count))
            if isinstance(function, str):
                made = self.graph.call_method(function, args)
            else:
                made = self.graph.call_function(function, args)
        if self.draw(st.booleans()):
            replaced = self.choose(known)
            later = set(self.graph.nodes) - set(self.before(made)) - {made}
            replaced.replace_all_uses_with(made, lambda user: user in later)

    def rewire(self) -> None:
        """One argument becomes another value."""
        node = self.choose([*self.inner, self.graph.output_node()])
        other = self.choose(self.before(node))
        if node.op == "output":
            node.args = ((*node.args[0], other),)
        else:
            node.update_arg(self.draw(st.integers(0, len(node.args) - 1)), other)

    def replace_input(self) -> None:
        """One input of a node becomes another, wherever it is among the arguments."""
        node = self.choose([*self.inner, self.graph.output_node()])
        if node.all_input_nodes:
            node.replace_input_with(
                self.choose(node.all_input_nodes), self.choose(self.before(node))
            )

    def move(self) -> None:
        """A node goes elsewhere between what it needs and who needs it."""
        if not self.inner:
            return
        node, nodes = self.choose(self.inner), list(self.graph.nodes)
        first = max(nodes.index(n) for n in node.all_input_nodes)
        last = min((nodes.index(n) for n in node.users), default=len(nodes) - 1)
        spots = [n for n in nodes[first:last] if n is not node]
        if self.draw(st.booleans()):
            self.choose(spots or [nodes[first]]).append(node)
        else:
            nodes[last].prepend(node)

    def erase(self) -> None:
        """A node goes; its users take an input of it. While someone walks over the list."""
        gone = self.choose(self.inner) if self.inner else None
        seen = []
        for node in self.graph.nodes:
            seen.append(node)
            if node is gone:
                node.replace_all_uses_with(node.all_input_nodes[0])
                self.graph.erase_node(node)
        assert seen[-1].op == "output"

    def sweep(self) -> None:
        """Dead code goes: the result stays."""
        wanted = value_of(self.graph)
        self.graph.eliminate_dead_code()
        assert equal(value_of(self.graph), wanted)
        assert all(n.users for n in self.inner)

    def through_a_copy(self) -> None:
        """On with a copy of the graph."""
        if self.draw(st.booleans()):
            self.graph = copy.deepcopy(self.graph)
        else:
            self.graph = pickle.loads(pickle.dumps(self.graph))


def check(graph: fx.Graph) -> None:
    graph.lint()
    nodes = list(graph.nodes)
    assert list(reversed(graph.nodes)) == nodes[::-1] and len(graph.nodes) == len(nodes)
    assert all(a.next is b and b.prev is a for a, b in itertools.pairwise(nodes))
    for node in nodes:  # users and inputs, counted from the arguments themselves
        found: list[fx.Node] = []
        map_arg((node.args, node.kwargs), lambda n: found.append(n) or n)  # noqa: B023
        assert node.all_input_nodes == list(dict.fromkeys(found))
    used = {n: {u for u in nodes if n in u.all_input_nodes} for n in nodes}
    assert all(set(n.users) == used[n] for n in nodes)
    wanted = value_of(graph)
    gm = fx.GraphModule({}, graph)
    assert equal(gm(*INPUTS), wanted)
    assert equal(fx.Interpreter(gm).run(*INPUTS), wanted)
    assert gm.graph.python_code("self").src == gm.code  # the same text each time


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_edits_keep_every_promise(data):
    editor = Editor(data.draw)
    edits = (
        *(editor.insert, editor.insert, editor.insert, editor.rewire, editor.replace_input),
        *(editor.move, editor.erase, editor.sweep, editor.through_a_copy),
    )
    for _ in range(data.draw(st.integers(1, 14))):
        before = value_of(editor.graph)
        edit = editor.choose(edits)
        edit()
        if edit in (editor.move, editor.sweep, editor.through_a_copy):
            assert equal(value_of(editor.graph), before)
        editor.graph.lint()
    check(editor.graph)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_graph_split_anywhere_computes_the_same(data):
    from taeda.fx.passes.split_module import split_module

    editor = Editor(data.draw)
    for _ in range(data.draw(st.integers(1, 10))):
        editor.insert()
    gm = fx.GraphModule({}, editor.graph)
    level, keys = 0, {}
    for node in editor.inner:  # keys that only rise need no cycle
        level += data.draw(st.integers(0, 1))
        keys[node] = level
    parts = split_module(gm, gm, keys.__getitem__)
    parts.graph.lint()
    assert equal(parts(*INPUTS), value_of(editor.graph))
