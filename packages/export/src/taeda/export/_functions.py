"""Functions inside of a program: the branches of `cond`, what `while_loop` asks and does, the steps
of `scan` and `map`.

    cond(pred, true_graph, false_graph, (operands...))
    while_loop(cond_graph, body_graph, (carried...), (others...))
    scan(graph, (carried...), (sliced...), (others...))
    map(graph, (sliced...), (others...))

Each is a graph of its own, a submodule of the program's, which gets all that it reads.
"""

from __future__ import annotations

import itertools
from typing import Any

import taeda
from taeda import Tensor
from taeda.compiler._graph.lower import CONTROLS
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

__all__ = [
    "CONDITION",
    "LOOP",
    "MAP",
    "NAMES",
    "SCAN",
    "calls_functions",
    "functions_of",
    "given_to",
    "of_functions_lifted",
    "sliced_in",
]

CONDITION, LOOP = taeda.cond, CONTROLS["while_loop"]()[0]
SCAN, MAP = CONTROLS["scan"]()[0], CONTROLS["map"]()[0]
#: what such operators are called in files
NAMES = {CONDITION: "cond", LOOP: "while_loop", SCAN: "scan", MAP: "map_impl"}


def calls_functions(node: Node) -> bool:
    """Whether a node calls functions of the program."""
    return node.op == "call_function" and node.target in NAMES


def functions_of(gm: GraphModule, node: Node) -> list[GraphModule]:
    """The graphs that a node calls."""
    first = 1 if node.target is CONDITION else 0
    count = 1 if node.target in (SCAN, MAP) else 2
    places: Any = node.args[first : first + count]
    return [getattr(gm, str(place.target)) for place in places]


def given_to(node: Node) -> list[Any]:
    """What each of the functions gets: nodes; of those `sliced_in` it slices."""
    return [one for group in node.args if isinstance(group, tuple | list) for one in group]


def sliced_in(node: Node) -> range:
    """The places among what its function gets of which it gets one slice a step."""
    args: Any = node.args
    if node.target not in (SCAN, MAP):
        return range(0)
    first = len(args[1]) if node.target is SCAN else 0
    return range(first, first + len(args[-2]))


def of_functions_lifted(gm: GraphModule) -> None:
    """Tensors that functions hold become arguments of them, and constants of the program."""
    names = (f"_function_constant{k}" for k in itertools.count())
    for node in list(gm.graph.nodes):
        if calls_functions(node):
            functions = functions_of(gm, node)
            for number, function in enumerate(functions):
                for inner in list(function.graph.find_nodes(op="get_attr")):
                    value = getattr(function, str(inner.target))
                    if isinstance(value, Tensor):
                        name = next(n for n in names if not hasattr(gm, n))
                        setattr(gm, name, value)
                        _lift(gm, node, functions, number, inner, name)
            for function in functions:
                of_functions_lifted(function)
                function.recompile()


def _lift(
    gm: GraphModule, node: Node, functions: list[GraphModule], number: int, inner: Node, name: str
) -> None:
    """One more argument for all functions of a node; the one that holds it reads that."""
    with gm.graph.inserting_before(node):
        outer = gm.graph.get_attr(name)
    args: list[Any] = list(node.args)
    args[-1] = (*args[-1], outer)
    node.args = tuple(args)
    for k, function in enumerate(functions):
        last = list(function.graph.find_nodes(op="placeholder"))[-1]
        with function.graph.inserting_after(last):
            made = function.graph.placeholder(f"arg{len(given_to(node)) - 1}")
        if k == number:
            inner.replace_all_uses_with(made)
            function.graph.erase_node(inner)
