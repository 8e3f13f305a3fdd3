"""Find a piece of graph that computes what a pattern computes, and put another in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from taeda import Tensor, nn

from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule, _assign
from .node import Node

__all__ = ["Match", "replace_pattern"]


class Match(NamedTuple):
    """One place that was replaced: the node that gave the result there, and the graph's node for
    each of the pattern's.

    >>> from taeda.fx import symbolic_trace
    >>> gm = symbolic_trace(lambda x: (x + 1).relu())
    >>> found = replace_pattern(gm, lambda x: x + 1, lambda x: x - 1)
    >>> [match.anchor.name for match in found]
    ['add']
    """

    anchor: Node
    nodes_map: dict[Node, Node]


def replace_pattern(
    gm: GraphModule, pattern: Callable[..., Any] | GraphModule, replacement: Any
) -> list[Match]:
    """Replace in `gm` what computes `pattern` by `replacement`, functions or modules of the same
    parameters; returns the places.

    Nodes match by what they do and by their inputs, not by their order or names; a parameter of the
    pattern matches any value. A value inside the match that somebody else uses prevents it. Places
    do not overlap: the first in order wins.

    Args:
        gm: the module to change
        pattern: a function or module that computes what is replaced
        replacement: one that computes what comes instead, of the same parameters

    >>> import taeda
    >>> gm = symbolic_trace(lambda x: taeda.neg(taeda.exp(x)))
    >>> _ = replace_pattern(gm, lambda x: taeda.exp(x), lambda x: taeda.sin(x))
    >>> print(gm.code)
    <BLANKLINE>
    def forward(self, x):
        sin = taeda.sin(x);  x = None
        neg = taeda.neg(sin);  sin = None
        return neg
    <BLANKLINE>
    """
    wanted, new = _traced(pattern), _traced(replacement)
    _check_parameters(wanted.graph, new.graph)
    matches = _matches(gm, wanted)
    moved: dict[Node, Node] = {}
    for match in matches:
        _replace(gm, match, wanted.graph, new, moved)
    for path in _paths(new.graph):
        _take_attribute(gm, new, path)
    gm.recompile()
    return [Match(match.anchor, match.nodes_map) for match in matches]


def _traced(program: Any) -> GraphModule:
    return program if isinstance(program, GraphModule) else symbolic_trace(program)


def _placeholders(graph: Graph) -> list[Node]:
    return [n for n in graph.nodes if n.op == "placeholder"]


def _check_parameters(pattern: Graph, replacement: Graph) -> None:
    has, gets = len(_placeholders(pattern)), len(_placeholders(replacement))
    if has != gets:
        raise ValueError(
            f"replace_pattern: the pattern has {has} parameters and the replacement {gets}; they "
            "stand for the same values"
        )


def _paths(graph: Graph) -> list[str]:
    return [str(n.target) for n in graph.nodes if n.op in ("get_attr", "call_module")]


def _take_attribute(gm: GraphModule, source: nn.Module, path: str) -> None:
    *prefix, field = path.split(".")
    place: Any = gm
    for part in prefix:
        if not hasattr(place, part):
            setattr(place, part, nn.Module())
        place, source = getattr(place, part), getattr(source, part)
    if not hasattr(place, field):
        _assign(place, field, getattr(source, field), field in source._buffers)


# ---- matching ----


def _results(graph: Graph) -> list[Node]:
    value = graph.output_node().args[0]
    found = list(value) if isinstance(value, (tuple, list)) else [value]
    if not found or not all(isinstance(node, Node) for node in found):
        raise ValueError("replace_pattern: pattern and replacement must return values they compute")
    return found


def _matches(gm: GraphModule, pattern: GraphModule) -> list[Match]:
    *others, anchor = _results(pattern.graph)
    if others:
        raise ValueError(
            "replace_pattern: a pattern returns one value; replace its parts one after another"
        )
    if anchor.op == "placeholder":
        raise ValueError(
            "replace_pattern: the pattern computes nothing, so it would match everything"
        )
    taken: set[Node] = set()
    found = []
    for node in gm.graph.nodes:
        matcher = _Matcher(gm, pattern)
        if not matcher.match(anchor, node):
            continue
        inner = matcher.inner()
        if inner & taken or not _is_closed(inner, node):
            continue
        taken |= inner
        found.append(Match(node, matcher.bound))
    return found


def _is_closed(inner: set[Node], anchor: Node) -> bool:
    """Whether nobody outside uses a value that would vanish."""
    return all(user in inner for node in inner if node is not anchor for user in node.users)


class _Matcher:
    """One attempt: which node of the graph each node of the pattern would be."""

    def __init__(self, gm: GraphModule, pattern: GraphModule) -> None:
        self.gm, self.pattern = gm, pattern
        self.bound: dict[Node, Node] = {}

    def inner(self) -> set[Node]:
        free = ("placeholder", "get_attr")
        return {real for wanted, real in self.bound.items() if wanted.op not in free}

    def match(self, wanted: Any, real: Any) -> bool:
        if isinstance(wanted, Node):
            return self.node(wanted, real)
        if isinstance(wanted, (tuple, list)):
            return (
                isinstance(real, (tuple, list))
                and len(wanted) == len(real)
                and all(map(self.match, wanted, real))
            )
        if isinstance(wanted, dict):
            return (
                isinstance(real, dict)
                and wanted.keys() == real.keys()
                and all(self.match(wanted[key], real[key]) for key in wanted)
            )
        if isinstance(wanted, slice):
            parts = ("start", "stop", "step")
            return isinstance(real, slice) and all(
                self.match(getattr(wanted, part), getattr(real, part)) for part in parts
            )
        return type(wanted) is type(real) and bool(wanted == real)

    def node(self, wanted: Node, real: Any) -> bool:
        if wanted in self.bound:
            return self.bound[wanted] is real
        if not isinstance(real, Node):
            return False
        if wanted.op == "placeholder":
            self.bound[wanted] = real
            return True
        if wanted.op != real.op or not self.same_target(wanted, real):
            return False
        if real in self.bound.values():
            return False
        self.bound[wanted] = real
        return self.match(wanted.args, real.args) and self.match(wanted.kwargs, real.kwargs)

    def same_target(self, wanted: Node, real: Node) -> bool:
        if wanted.op == "call_module":
            module = self.gm.get_submodule(str(real.target))
            return type(self.pattern.get_submodule(str(wanted.target))) is type(module)
        if wanted.op == "get_attr":
            values = [
                _attribute(m, str(n.target)) for m, n in ((self.pattern, wanted), (self.gm, real))
            ]
            return values[0] is values[1] or _equal(*values)
        return wanted.target == real.target


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module


def _equal(a: Any, b: Any) -> bool:
    return isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype == b.dtype and a.equal(b)


# ---- replacing ----


def _replace(
    gm: GraphModule, match: Match, pattern: Graph, new: GraphModule, moved: dict[Node, Node]
) -> None:
    def now(node: Node) -> Node:  # an earlier replacement may have taken its place
        while node in moved:
            node = moved[node]
        return node

    pairs = zip(_placeholders(pattern), _placeholders(new.graph), strict=True)
    values = {
        inside: now(match.nodes_map[outside])
        for outside, inside in pairs
        if outside in match.nodes_map
    }
    unbound = [p for p in _placeholders(new.graph) if p not in values and p.users]
    if unbound:
        raise ValueError(
            f"replace_pattern: the replacement uses {unbound}, whose parameter the pattern does not use"
        )
    values |= {p: match.anchor for p in _placeholders(new.graph) if p not in values}
    with gm.graph.inserting_before(match.anchor):
        made = gm.graph.graph_copy(new.graph, values)
    if not isinstance(made, Node):
        raise ValueError("replace_pattern: the replacement must return one value that it computes")
    match.anchor.replace_all_uses_with(made)
    moved[match.anchor] = made
    inner = [real for wanted, real in match.nodes_map.items() if wanted.op != "placeholder"]
    order = {node: place for place, node in enumerate(gm.graph.nodes)}
    for node in sorted(inner, key=order.__getitem__, reverse=True):
        if not node.users:
            gm.graph.erase_node(node)
