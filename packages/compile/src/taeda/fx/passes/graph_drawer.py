"""A graph as text for graphviz, which draws it: a box for each node, an arrow for each use."""

from __future__ import annotations

import os
from typing import Any

from taeda._core_api.files import atomic_write

from ..graph_module import GraphModule
from ..node import Node, map_arg, target_text, type_name

__all__ = ["Dot", "FxGraphDrawer"]

_COLORS = {
    "placeholder": "beige",
    "get_attr": "lightyellow",
    "call_function": "lightblue",
    "call_method": "lavender",
    "call_module": "palegreen",
    "output": "mistyrose",
}


class Dot:
    """A drawing as text in graphviz's language; `dot -Tsvg` and the like turn it into a picture.

    >>> print(Dot("digraph {\\n}"))
    digraph {
    }
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def to_string(self) -> str:
        """The text."""
        return self._text

    __str__ = to_string

    def write_raw(self, path: str | os.PathLike[str]) -> None:
        """Write the text to a file."""
        with atomic_write(path) as file:
            file.write(self._text.encode())


class FxGraphDrawer:
    r"""Draws the graph of a `GraphModule`, and those of graph modules inside of it.

    `ignore_getattr` leaves attributes out. Boxes of modules list their parameters and buffers,
    unless `ignore_parameters_and_buffers`. Shapes and dtypes are there after `ShapeProp`.

    >>> from taeda.fx import symbolic_trace
    >>> print(FxGraphDrawer(symbolic_trace(lambda x: x + 1), "tiny").get_dot_graph())
    digraph "tiny" {
      node [shape=box, style=filled, fontname=monospace]
      "x" [label="%x\l", fillcolor=beige]
      "add" [label="%add\loperator.add(%x, 1)\l", fillcolor=lightblue]
      "output" [label="%output\l", fillcolor=mistyrose]
      "x" -> "add"
      "add" -> "output"
    }
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
    ) -> None:
        self._name, self._ignore = name, ignore_getattr
        self._show_tensors = not ignore_parameters_and_buffers
        self._graphs = {name: self._drawn(graph_module, name)}
        for path, module in graph_module.named_modules():
            if path and isinstance(module, GraphModule):
                self._graphs[f"{name}_{path}"] = self._drawn(module, f"{name}_{path}")

    def get_dot_graph(self, submod_name: str | None = None) -> Dot:
        """The drawing of the module, or of the graph module at a path inside of it (KeyError if
        there is none).
        """
        return self._graphs[self._name if submod_name is None else f"{self._name}_{submod_name}"]

    def get_main_dot_graph(self) -> Dot:
        """The drawing of the module."""
        return self._graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> Dot:
        """The drawing of the graph module at a path."""
        return self._graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Dot]:
        """All drawings, by name."""
        return dict(self._graphs)

    # ---- text ----

    def _drawn(self, module: GraphModule, name: str) -> Dot:
        nodes = [n for n in module.graph.nodes if not (self._ignore and n.op == "get_attr")]
        shown = set(nodes)
        boxes = [self._box(module, node) for node in nodes]
        arrows = [
            f"{_quoted(used.name)} -> {_quoted(node.name)}"
            for node in nodes
            for used in node.all_input_nodes
            if used in shown
        ]
        head = "node [shape=box, style=filled, fontname=monospace]"
        lines = "".join(f"  {line}\n" for line in (head, *boxes, *arrows))
        return Dot(f"digraph {_quoted(name)} {{\n{lines}}}")

    def _box(self, module: GraphModule, node: Node) -> str:
        lines = [f"%{node.name}", *self._said(module, node), *_facts(node)]
        label = "".join(f"{_escaped(line)}\\l" for line in lines)
        return f'{_quoted(node.name)} [label="{label}", fillcolor={_COLORS[node.op]}]'

    def _said(self, module: GraphModule, node: Node) -> list[str]:
        if node.op in ("placeholder", "output"):
            return []
        if node.op == "get_attr":
            return [f"self.{node.target}"]
        words = [_text(a) for a in node.args]
        words += [f"{name}={_text(value)}" for name, value in node.kwargs.items()]
        target = target_text(node.target)
        if node.op != "call_module":
            return [f"{target}({', '.join(words)})"]
        called = module.get_submodule(target)
        lines = [f"self.{target}({', '.join(words)})", type(called).__name__]
        if self._show_tensors:
            named = (*called.named_parameters(), *called.named_buffers())
            lines += [f"{path}: {tuple(t.shape)} {t.dtype}" for path, t in named]
        return lines


def _text(value: Any) -> str:
    return repr(map_arg(value, _Shown)) if not isinstance(value, Node) else f"%{value.name}"


class _Shown:
    """A node inside an argument: prints as its name."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def __repr__(self) -> str:
        return f"%{self.node.name}"


def _facts(node: Node) -> list[str]:
    """What is known of the value: its type, its shape and dtype."""
    lines = [] if node.type is None else [f"type {type_name(node.type)}"]
    facts = node.meta.get("tensor_meta")
    several: list[Any] = [facts] if hasattr(facts, "dtype") else list(facts or ())
    lines += [f"{one.dtype} {tuple(one.shape)}" for one in several if hasattr(one, "dtype")]
    return lines


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l")


def _quoted(name: str) -> str:
    return f'"{_escaped(name)}"'
