"""What two traces at different sizes have in common: words that must be the same, numbers that may move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from taeda.compiler._graph.capture import Call
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from .._expressions import Expression
from .._reals import Real
from ..symbolic_shapes import ShapeEnv

__all__ = ["Run", "describe", "same_constants"]


@dataclass
class Run:
    """One trace: its graph, what the symbols were, what was asked and used."""

    call: Call
    env: ShapeEnv
    used: list[Expression | Real]
    words: list[str] = field(default_factory=list)
    numbers: list[int | float] = field(default_factory=list)

    @property
    def guards(self) -> list[str]:
        return [str(g) for g in self.env.guards]


def describe(run: Run) -> None:
    """The graph as words and numbers: words are what must be the same elsewhere."""
    place = {node: k for k, node in enumerate(run.call.graph.nodes)}
    for node in run.call.graph.nodes:
        words = [
            node.op,
            str(node.target),
            str(id(node.target) if callable(node.target) else ""),
            node.name,
        ]
        for value in (node.args, node.kwargs):
            words.extend(_words(value, place, run.numbers))
        run.words.append(" ".join(words))


def _words(value: Any, place: dict[Node, int], numbers: list[int | float]) -> Iterator[str]:
    if isinstance(value, Node):
        yield f"%{place[value]}"
    elif isinstance(value, (tuple, list)):
        yield f"{type(value).__name__}["
        for entry in value:
            yield from _words(entry, place, numbers)
        yield "]"
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield f"{key}="
            yield from _words(entry, place, numbers)
    elif isinstance(value, slice):
        yield from _words([value.start, value.stop, value.step], place, numbers)
    elif type(value) in (int, float):
        numbers.append(value if value == value else 0)  # a NaN is no number that could move
        yield type(value).__name__ if value == value else "nan"
    else:
        yield repr(value)


def same_constants(a: Call, b: Call) -> bool:
    if list(a.constants) != list(b.constants):
        return False
    return all(_same_constant(one, b.constants[name]) for name, one in a.constants.items())


def _same_constant(a: Any, b: Any) -> bool:
    """The same tensor, or functions that do the same, numbers included."""
    if isinstance(a, GraphModule) and isinstance(b, GraphModule):
        names = [str(n.target) for n in a.graph.find_nodes(op="get_attr")]
        alike = (_same_constant(getattr(a, name), getattr(b, name)) for name in names)
        return a.code == b.code and all(alike)
    return a is b or (a.shape == b.shape and bool(a.equal(b)))
