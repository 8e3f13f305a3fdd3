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
from ..sym_node import SymBool, SymFloat, SymInt
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
    formulas: dict[int, Any] = field(default_factory=dict)  # of results, by place among the numbers

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
            words.extend(_words(value, place, run, node.op == "output"))
        run.words.append(" ".join(words))


def _words(value: Any, place: dict[Node, int], run: Run, results: bool) -> Iterator[str]:
    """The words of a value; of `results`, numbers that the program computed with sizes are numbers as
    others, and their formulas are kept.
    """
    if isinstance(value, Node):
        yield f"%{place[value]}"
    elif isinstance(value, (tuple, list)):
        yield f"{type(value).__name__}["
        for entry in value:
            yield from _words(entry, place, run, results)
        yield "]"
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield f"{key}="
            yield from _words(entry, place, run, results)
    elif isinstance(value, slice):
        yield from _words([value.start, value.stop, value.step], place, run, results)
    elif isinstance(value, SymInt | SymFloat | SymBool):
        formula: Any = value.relation if isinstance(value, SymBool) else value.expr
        run.formulas[len(run.numbers)] = formula
        yield from _number(formula.value(run.env.var_to_val), run)
    elif type(value) in (int, float) or (results and type(value) is bool):
        yield from _number(value, run)
    else:
        yield repr(value)


def _number(value: Any, run: Run) -> Iterator[str]:
    run.numbers.append(value if value == value else 0)  # a NaN is no number that could move
    yield type(value).__name__ if value == value else "nan"


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
