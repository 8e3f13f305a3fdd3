"""Expressions in sizes as nodes of a graph."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import tensors_in
from taeda.fx.graph import Graph
from taeda.fx.node import Node

from .._data_sizes import item, written_question
from .._expressions import Call as Called
from .._expressions import Expression
from .._logic import Question
from .._reals import Real
from ..sym_node import SymBool, SymFloat, SymInt

if TYPE_CHECKING:
    from .tracer import SizeTracer

__all__ = ["Writer"]


class Writer:
    """Writes expressions as nodes: a size is read from the first argument that has it."""

    def __init__(self, graph: Graph, tracer: SizeTracer, own: dict[str, Any]) -> None:
        self.graph, self.tracer, self.own = graph, tracer, own
        self.before: Node = graph.output_node()
        self.made: dict[Any, Node] = {}
        self.read: set[Node] = set()  # nodes between an argument and a symbol
        self.replaced = 0  # how many numbers gave way

    def tree(self, value: Any, numbers: Iterator[Expression | Real | Question | None]) -> Any:
        """Arguments with nodes in place of numbers that depend on sizes."""
        if isinstance(value, tuple):
            parts = [self.tree(v, numbers) for v in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, list):
            return [self.tree(v, numbers) for v in value]
        if isinstance(value, dict):
            return {key: self.tree(v, numbers) for key, v in value.items()}
        if isinstance(value, slice):
            return slice(*(self.tree(v, numbers) for v in (value.start, value.stop, value.step)))
        results = self.before.op == "output"
        if type(value) in (int, float) or (results and isinstance(value, _RESULTS)):
            expr = next(numbers)
            self.replaced += expr is not None
            return value if expr is None else self.value(expr)
        return value

    def value(self, expr: Expression | Real | Question) -> Any:
        """The node of an expression or a question, or its number or answer."""
        if isinstance(expr, Question):
            known = expr.decided()
            return written_question(expr, self.value, self._node) if known is None else known
        if expr.number is not None:
            return expr.number
        if isinstance(expr, Real):
            if expr.name == "symbol":
                return self._size(expr.parts[0])
            parts = tuple(self.value(part) for part in expr.parts)
            return self._node(_FUNCTIONS.get(expr.name) or getattr(operator, expr.name), parts)
        total: Any = None
        for product, factor in expr.terms.items():
            one: Any = None if factor == 1 and product else factor
            for atom, power in product:
                for _ in range(power):
                    one = self._two(operator.mul, one, self._atom(atom))
            total = one if total is None else self._two(operator.add, total, one)
        return total

    def _two(self, function: Any, a: Any, b: Any) -> Any:
        if a is None:
            return b
        if a == -1 and function is operator.mul:
            return self._node(operator.neg, (b,))
        if type(b) is int and b < 0 and function is operator.add:
            return self._node(operator.sub, (a, -b))
        return self._node(function, (a, b))

    def _atom(self, atom: str | Called) -> Any:
        if isinstance(atom, str):
            return self._size(atom)
        left, right = self.value(atom.left), self.value(atom.right)
        chosen = _FUNCTIONS.get(atom.name) or getattr(operator, atom.name)
        return self._node(chosen, (left, right))

    def _size(self, name: str) -> Node:
        if name not in self.made and name in self.tracer.told_by:
            self.made[name] = self._told(*self.tracer.told_by[name])
        if name not in self.made:
            number, dim = self.tracer.where[name]
            tensor = self.tracer.tensors[number]
            path = _path_to(self.tracer.args, tensor)
            node: Node = [n for n in self.graph.nodes if n.op == "placeholder"][path[0]]
            with self.graph.inserting_before(self._first()):
                for key in path[1:]:
                    node = self.graph.call_function(operator.getitem, (node, key))
                size = self.graph.call_function(
                    taeda.ops.aten.sym_size.int, (node, dim), name="sym_size_int"
                )
                self.made[name] = self._solved(name, size)
        return self.made[name]

    def _told(self, place: int, dim: int | None) -> Node:
        """A size or integer that data decide, read from the result at this place from the end."""
        results: Any = self.graph.output_node().args[0]
        node = results[place]
        with self.graph.inserting_after(node):
            if dim is None:
                return self.graph.call_function(item, (node,), name="item")
            return self.graph.call_function(
                taeda.ops.aten.sym_size.int, (node, dim), name="sym_size_int"
            )

    def call(self, function: Any, args: tuple[Any, ...]) -> Node:
        """A new node for a call."""
        with self.graph.inserting_before(self.before):
            return self.graph.call_function(function, args)

    def _solved(self, name: str, size: Node) -> Node:
        """The symbol that a size tells which is a multiple of it and a number."""
        expr = self.tracer.formulas.get(name)
        if expr is None:
            return size
        least = expr.value({name: 0})
        factor = expr.value({name: 1}) - least
        self.read.add(size)
        if least:
            size = self.graph.call_function(operator.sub, (size, least))
            self.read.add(size)
        if factor == 1:
            return size
        return self.graph.call_function(operator.floordiv, (size, factor))

    def _first(self) -> Node:
        """The first node that is neither an input nor a size."""
        kinds = ("placeholder",)
        sizes = {*self.made.values(), *self.read}
        return next(n for n in self.graph.nodes if n.op not in kinds and n not in sizes)

    def _node(self, function: Any, args: tuple[Any, ...]) -> Node:
        key = (function, args)
        if key not in self.made:
            with self.graph.inserting_before(self.before):
                self.made[key] = self.graph.call_function(function, args)
        return self.made[key]


_RESULTS = (bool, SymBool, SymFloat, SymInt)
_FUNCTIONS = {"float": taeda.sym_float, "max": taeda.sym_max, "min": taeda.sym_min}


def _path_to(value: Any, tensor: Tensor) -> tuple[Any, ...]:
    """The keys that lead to a tensor in a tree."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in pairs:
        if entry is tensor:
            return (key,)
        if isinstance(entry, (tuple, list, dict)) and any(t is tensor for t in tensors_in(entry)):
            return (key, *_path_to(entry, tensor))
    raise AssertionError("the tensor is an argument")
