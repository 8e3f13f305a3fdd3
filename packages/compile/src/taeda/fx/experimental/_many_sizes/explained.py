"""The graph of the first trace, with expressions in sizes in place of numbers that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from .._data_sizes import written_asserts
from .._expressions import Expression, Relation, constant, modulo, symbol
from .._fit import explained
from .._for_any_size import ForAnySize
from .._logic import Question
from .._reals import Real, real
from ..symbolic_shapes import ShapeEnv
from .runs import Run
from .writer import Writer

if TYPE_CHECKING:
    from .tracer import SizeTracer

__all__ = ["Explained"]


class Explained:
    """The graph of the first trace, in which numbers become expressions in sizes."""

    def __init__(self, tracer: SizeTracer, base: Run, runs: list[Run]) -> None:
        self.tracer, self.base, self.runs = tracer, base, runs
        self.points = [run.env.var_to_val for run in runs]
        self.moved_by: set[str] = set()
        self.answers: dict[Any, Any] = {}  # most numbers are there many times
        self.own = self._own_symbols()
        self.known = list(dict.fromkeys(e.replaced(self.own) for e in base.used))

    def _explain(self, numbers: list[Any], known: list[Any]) -> Expression | Real | None:
        """What gives these numbers at all points; None, and the symbols that moved them are noted.
        A float is only what the program itself computed.
        """
        key = bool(known), *map(type, numbers[:1]), *numbers
        if key not in self.answers:
            self.answers[key] = self._found(numbers, known)
        made: Expression | Real | None = self.answers[key]
        return made

    def _found(self, numbers: list[Any], known: list[Any]) -> Expression | Real | None:
        names = [name for name in self.tracer.moving if self._moves(name, numbers)]
        fitted = len(numbers) - (len(numbers) > 4)
        made: Expression | Real | None = None
        if any(type(self.points[0][name]) is float for name in names) and type(numbers[0]) is int:
            pass  # no integer follows from a float
        elif all(type(n) is int for n in numbers):
            whole = [expr for expr in known if isinstance(expr, Expression)]
            made = explained(numbers[:fitted], self.points[:fitted], names, whole)
        elif all(type(n) is float for n in numbers):
            made = self._computed(numbers, known)
        if made is not None and all(
            made.value(p) == n for p, n in zip(self.points, numbers, strict=True)
        ):
            return made
        self.moved_by.update(names or self.tracer.moving)
        return None

    def _computed(self, numbers: list[Any], known: list[Any]) -> Real | None:
        """The float that the program computed, or the integer that became a float, if it gives these
        numbers at all points.
        """
        for expr in known:
            made = expr if isinstance(expr, Real) else real("float", expr)
            if [made.value(p) for p in self.points if made.symbols() <= p.keys()] == numbers:
                return made
        return None

    def _moves(self, name: str, numbers: list[Any]) -> bool:
        """Whether the numbers differ where this symbol alone was moved."""
        first = self.points[0]
        alone = [
            n
            for p, n in zip(self.points, numbers, strict=True)
            if p[name] != first[name]
            and all(p[o] == first[o] for o in self.tracer.moving if o != name)
        ]
        return any(n != numbers[0] for n in alone)

    def _own_symbols(self) -> dict[str, Any]:
        """Sizes of results, which had symbols of their own, in terms of the arguments' sizes."""
        made: dict[str, Any] = {name: constant(value) for name, value in self.tracer.fixed.items()}
        for name in self.base.env.var_to_val:
            if name in self.tracer.env.var_to_val:
                continue
            numbers = [p.get(name) for p in self.points]
            if all(n == numbers[0] for n in numbers):
                made[name] = constant(int(numbers[0] or 0))
                continue
            found = self._explain(numbers, [])
            if found is not None:
                made[name] = found
        return made

    def module(self) -> GraphModule | None:
        """The graph module; None, and symbols are fixed, where a number has no explanation."""
        graph = self.base.call.graph
        self.exprs = exprs = [self._at(k) for k in range(len(self.base.numbers))]
        if self.moved_by:
            self.tracer._fix(*self.moved_by)
            return None
        writer = Writer(graph, self.tracer, self.own)
        numbers = iter(exprs)
        for node in list(graph.nodes):
            args, kwargs = node.args, node.kwargs
            writer.before, before = node, writer.replaced
            made = writer.tree(args, numbers), writer.tree(kwargs, numbers)
            # to compare symbols would ask, and guard, whether they are equal
            if writer.replaced > before:
                node.args, node.kwargs = made
        writer.before = graph.output_node()
        for expr in self.base.env.written:
            writer.value(expr.replaced(self.own))
        there = set(graph.nodes)
        written_asserts(self.base.env, self.own, writer.value, writer.call)
        _early(graph, [node for node in graph.nodes if node not in there])
        tracer = self.tracer
        sizes = tuple(tracer.plan[id(t)] for t in tracer.tensors)
        return ForAnySize.of(self.base.call.constants, graph, self._environment(), sizes)

    def _at(self, k: int) -> Expression | Real | Question | None:
        """What number `k` is; None if it is the same everywhere."""
        numbers = [run.numbers[k] for run in self.runs]
        if k in self.base.formulas:
            return self._computed_there(self.base.formulas[k].replaced(self.own), numbers)
        if all(n == numbers[0] for n in numbers):
            return None
        return self._explain(numbers, self.known)

    def _computed_there(self, formula: Any, numbers: list[Any]) -> Any:
        """What the program computed with sizes and gives; None, and symbols are fixed, where that is
        another number than it gave.
        """
        known = all(formula.symbols() <= point.keys() for point in self.points)
        if known and [formula.value(p) for p in self.points] == numbers:
            return formula
        self.moved_by.update(self.tracer.moving)
        return None

    def _environment(self) -> ShapeEnv:
        """The symbols of the arguments, with the guards in terms of them."""
        env = self.tracer.env
        for name, value in self.tracer.fixed.items():
            env._guard(Relation("==", symbol(name), constant(value)))
        for name, divisor in self.tracer.divisors.items():
            rest = modulo(symbol(name), constant(divisor))
            env._guard(Relation("==", rest, constant(0)))
        for guard in self.base.env.guards:
            made = guard.replaced(self.own)
            if made.decided() is None and made not in env.guards:
                env.guards.append(made)
        return env


def _early(graph: Graph, asserts: list[Node]) -> None:
    """Assertions where their numbers are known, in their order: what they forbid comes later."""
    place = [node for node in graph.nodes if node.op == "placeholder"][-1:]
    for node in asserts:
        order = {other: k for k, other in enumerate(graph.nodes)}
        place = [max((*place, *node.all_input_nodes), key=order.__getitem__)]
        place[0].append(node)
        place = [node]
