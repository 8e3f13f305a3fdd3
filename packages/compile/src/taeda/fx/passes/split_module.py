"""One module as several: the nodes of a graph dealt out to submodules that are called in turn."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from taeda import nn

from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg

__all__ = ["split_module"]

_OUTSIDE = ("placeholder", "get_attr", "output")


@dataclass
class _Part:
    """The nodes of one submodule, what comes in from others, and what others need of it."""

    name: str
    nodes: list[Node] = field(default_factory=list)
    inputs: dict[Node, None] = field(default_factory=dict)
    outputs: dict[Node, None] = field(default_factory=dict)


def split_module(
    m: GraphModule,
    root_m: nn.Module | None,
    split_callback: Callable[[Node], int | str],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool = False,
) -> GraphModule:
    """A module that computes what `m` does in submodules `submod_<key>`: nodes for which
    `split_callback` gives the same key come together. Inputs, the output, and attributes, which
    are read outside and passed in, are not asked for.

    The modules that nodes call are taken from `root_m` (None: from `m`), under their own paths;
    `qualname_map` takes those paths, by new name ("submod_0.conv": "conv"). Submodules run when what
    they need is there, the one whose first node comes first before others; with `keep_original_order`
    strictly by their first nodes. RuntimeError if two of them would need each other.

    >>> import taeda
    >>> from taeda.fx import symbolic_trace
    >>> gm = symbolic_trace(lambda x: ((x + 1).relu() * 2).sin())
    >>> halves = split_module(gm, gm, lambda node: int(node.name in ("mul", "sin")))
    >>> print(halves.code.strip())
    def forward(self, x):
        submod_0 = self.submod_0(x);  x = None
        submod_1 = self.submod_1(submod_0);  submod_0 = None
        return submod_1
    """
    owner = {n: str(split_callback(n)) for n in m.graph.nodes if n.op not in _OUTSIDE}
    parts = _parts(m.graph, owner)
    order = list(parts.values()) if keep_original_order else _sorted(parts, owner)
    _check_order(order, owner)
    made = _Base(m.graph, m if root_m is None else root_m)
    for part in order:
        made.call(part)
        for node in part.nodes if qualname_map is not None else ():
            if node.op == "call_module":
                qualname_map[f"{part.name}.{node.target}"] = str(node.target)  # type: ignore[index]
    return made.finished(type(m).__name__)


def _parts(graph: Graph, owner: dict[Node, str]) -> dict[str, _Part]:
    parts: dict[str, _Part] = {}
    for node in graph.nodes:
        here = owner.get(node)
        if here is not None:
            parts.setdefault(here, _Part(f"submod_{here}")).nodes.append(node)
        for used in node.all_input_nodes:
            there = owner.get(used)
            if there == here:
                continue
            if here is not None:
                parts[here].inputs[used] = None
            if there is not None:
                parts[there].outputs[used] = None
    return parts


def _needs(part: _Part, owner: dict[Node, str]) -> set[str]:
    return {f"submod_{owner[n]}" for n in part.inputs if n in owner}


def _sorted(parts: dict[str, _Part], owner: dict[Node, str]) -> list[_Part]:
    """Each after those that it needs; RuntimeError if there is no such order."""
    waiting, order, done = list(parts.values()), [], set[str]()
    while waiting:
        ready = next((p for p in waiting if _needs(p, owner) <= done), None)
        if ready is None:
            names = ", ".join(p.name for p in waiting)
            raise RuntimeError(f"split_module: a cycle exists between partitions: {names}")
        waiting.remove(ready)
        order.append(ready)
        done.add(ready.name)
    return order


def _check_order(order: list[_Part], owner: dict[Node, str]) -> None:
    done: set[str] = set()
    for part in order:
        missing = _needs(part, owner) - done
        if missing:
            raise RuntimeError(
                f"split_module: {part.name} comes first in the original order but needs "
                f"{', '.join(sorted(missing))}; leave keep_original_order out"
            )
        done.add(part.name)


class _Base:
    """The graph that calls the parts."""

    def __init__(self, origin: Graph, root: nn.Module) -> None:
        self.origin, self.root = origin, root
        self.graph = Graph(tracer_cls=origin._tracer_cls)
        self.graph.set_codegen(origin._codegen)
        self.values: dict[Node, Any] = {}
        self.modules: dict[str, Any] = {}
        for node in origin.nodes:
            if node.op in ("placeholder", "get_attr"):
                self.values[node] = self.graph.node_copy(node, lambda n: self.values[n])
                if node.op == "get_attr":
                    self.modules[str(node.target)] = _at(root, str(node.target))

    def call(self, part: _Part) -> None:
        self.modules[part.name] = self._module(part)
        args = tuple(self.values[n] for n in part.inputs)
        made = self.graph.call_module(part.name, args)
        outputs = list(part.outputs)
        if len(outputs) == 1:
            self.values[outputs[0]] = made
            made.meta.update(outputs[0].meta)
            return
        for place, node in enumerate(outputs):
            value = self.graph.call_function(operator.getitem, (made, place), name=node.name)
            value.meta.update(node.meta)
            self.values[node] = value

    def _module(self, part: _Part) -> GraphModule:
        graph, inner = Graph(), dict[Node, Any]()
        for node in part.inputs:
            inner[node] = graph.placeholder(node.name, node.type)
            inner[node].meta.update(node.meta)
        for node in part.nodes:
            inner[node] = graph.node_copy(node, lambda n: inner[n])
        results = tuple(inner[n] for n in part.outputs)
        graph.output(results[0] if len(results) == 1 else results)
        return GraphModule(self.root, graph, part.name)

    def finished(self, name: str) -> GraphModule:
        output = self.origin.output_node()
        self.graph.output(map_arg(output.args[0], lambda n: self.values[n]), output.type)
        made = GraphModule(self.modules, self.graph, name)
        made.training = self.root.training
        return made


def _at(root: Any, path: str) -> Any:
    for part in path.split("."):
        root = getattr(root, part)
    return root
