"""One graph for many sizes: the program is traced at several, and every number that moved is explained.

At the sizes of the call, with symbols in place of them, it tells its guards. Then each symbol is
moved alone, and all together. A symbol stays one if the same operators ran, the same guards were
asked and every number that moved is an expression in symbols; else the trace holds for its number
only, and a guard says so. The last point is not fitted: it only checks.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.trees import tensors_in
from taeda.compiler import _control  # noqa: F401 - it fills the hook of recorders
from taeda.compiler._graph.capture import Call
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from ._data_sizes import DataSizes, item, written_asserts
from ._expressions import Call as Called
from ._expressions import Expression, Relation, constant, modulo, symbol
from ._fakes import FakeCapture, fake_of, fakes_of
from ._fit import explained
from ._for_any_size import ForAnySize
from ._logic import Question
from ._ranges import ValueRanges
from ._reals import Real, real
from ._sizes_mode import SizesMode
from .sym_node import SymFloat, SymInt
from .symbolic_shapes import ShapeEnv

__all__ = ["traced_for_any_size"]

Record = Callable[..., Call]


@dataclass
class _Run:
    """One trace: its graph, what the symbols were, what was asked and used."""

    call: Call
    env: ShapeEnv
    used: list[Expression | Real]
    words: list[str] = field(default_factory=list)
    numbers: list[int | float] = field(default_factory=list)

    @property
    def guards(self) -> list[str]:
        return [str(g) for g in self.env.guards]


def traced_for_any_size(
    record: Record, f: Callable[..., Any], args: tuple[Any, ...], names: list[str]
) -> GraphModule:
    """The graph of `f`, with `shape_env`, its guards.
    `record(capture, f, args, names, around)` traces once.
    """
    tracer = _Tracer(record, f, args, names)
    while True:
        made = tracer.attempt()
        if made is not None:
            return made


class _Sized(FakeCapture):
    """Records a call whose sizes are symbols; they are numbers inside of functions that it calls."""

    mode: SizesMode
    sizes_of_data: DataSizes | None = None

    def branches(self, pred: Tensor, true_fn: Any, false_fn: Any, operands: Any) -> Any:
        with self.mode.paused():
            return super().branches(pred, true_fn, false_fn, operands)

    def loop(self, cond_fn: Any, body_fn: Any, carried: tuple[Any, ...]) -> Any:
        with self.mode.paused():
            return super().loop(cond_fn, body_fn, carried)

    def scan(self, combine_fn: Any, init: Any, xs: Any, dim: int, reverse: bool) -> Any:
        with self.mode.paused():
            return super().scan(combine_fn, init, xs, dim, reverse)

    @property
    def data(self) -> DataSizes | None:  # type: ignore[override]
        """Not in functions that become graphs of their own."""
        return None if self.mode._pauses else self.sizes_of_data

    def sized(self, name: str, dims: tuple[int, ...], made: Any) -> None:
        first = made if isinstance(made, Tensor) else made[0]
        self.mode.note(
            first,
            tuple(symbol(name) if d in dims else constant(n) for d, n in enumerate(first.shape)),
        )


class _Tracer:
    """The symbols of a call, which of them are numbers after all, and why."""

    def __init__(self, record: Record, f: Any, args: tuple[Any, ...], names: list[str]) -> None:
        self.record, self.f, self.args, self.names = record, f, args, names
        self.env = ShapeEnv()
        self.ranges: dict[str, ValueRanges] = {}  # what sizes can be, where a caller says it
        self.plan: dict[int, tuple[Expression, ...]] = {}
        self.where: dict[str, tuple[int, int]] = {}
        self.formulas: dict[str, Expression] = {}  # sizes that are no symbols, but tell one
        self.tensors = list({id(t): t for t in tensors_in(args)}.values())
        for number, tensor in enumerate(self.tensors):
            self.plan[id(tensor)] = tuple(
                self._dimension(number, dim, size) for dim, size in enumerate(tensor.shape)
            )
        self.fixed: dict[str, int] = {}
        self.divisors: dict[str, int] = {}
        self.explained: _Explained | None = None
        self.told_by: dict[str, tuple[int, int | None]] = {}  # symbols that results tell

    def _dimension(self, number: int, dim: int, size: int) -> Expression:
        made = self.env.create_symbol(size, f"tensor {number}, dimension {dim}")
        if made.number is None:
            self.where.setdefault(str(made), (number, dim))
        return made

    @property
    def moving(self) -> list[str]:
        return [name for name in self.where if name not in self.fixed]

    def _fix(self, *names: str) -> None:
        self.fixed.update({name: self.env.var_to_val[name] for name in names})

    # ---- one trace ----

    def run(self, moved: dict[str, int]) -> _Run:
        """A trace at the sizes of the call, but for those that are moved."""
        env = ShapeEnv()
        env.var_to_val = {**self.env.var_to_val, **moved}
        env.var_to_sources = self.env.var_to_sources
        env.replacements = {name: constant(value) for name, value in self.fixed.items()}
        env.var_to_range = dict(self.ranges)
        fakes: dict[int, Tensor] = {}
        known: dict[int, tuple[Expression, ...]] = {}
        for tensor in self.tensors:
            exprs = self.plan[id(tensor)]
            fake = fake_of(tensor, tuple(e.value(env.var_to_val) for e in exprs))
            fakes[id(tensor)], known[id(fake)] = fake, exprs
        capture = self.capture(env)
        mode = capture.mode = SizesMode(env, capture, known)
        with _core.left_to(mode.asks):
            made = self.record(capture, self.f, fakes_of(self.args, fakes), self.names, mode)
        run = _Run(made, env, mode.used)
        _describe(run)
        return run

    def capture(self, env: ShapeEnv) -> _Sized:
        """What records a trace."""
        return _Sized()

    def tried(self, moved: dict[str, int], base: _Run) -> _Run | None:
        """The trace there, if it is the same but for numbers."""
        try:
            run = self.run(moved)
        except Exception:  # noqa: BLE001 - whatever the program raises there, it is another program
            return None
        same = run.words == base.words and run.guards == base.guards
        return run if same and _same_constants(run.call, base.call) else None

    # ---- points ----

    def attempt(self) -> GraphModule | None:
        """The graph, or None after one more symbol was found to be a number."""
        base = self.run({})
        asked = [n for n in self.moving if any(_fixes(g, n) for g in base.env.guards)]
        if asked:
            self._fix(*asked)
            return None
        runs = [base]
        values: dict[str, list[int]] = {}
        self.divisors = {}
        for name in self.moving:
            others = self._candidates(name, base)
            values[name] = self._alone(name, base, runs, others)
            if len(values[name]) < self._fewest(name, others):
                self._fix(name)
                return None
        return self._together(base, runs, values)

    def _fewest(self, name: str, others: list[int]) -> int:
        """At how many other sizes a symbol must have given the same program."""
        limits = self.ranges.get(name)
        if limits is None:
            return 4
        return int(min(4, limits.upper - limits.lower, max(len(others), 1)))

    def _candidates(self, name: str, base: _Run) -> list[int]:
        """Sizes to move a symbol to: those that no guard refuses, and below its own if few do not."""
        hint = self.env.var_to_val[name]
        made = [n for n in self._other_sizes(name, hint) if not self._is_refused({name: n}, base)]
        if name not in self.ranges or len(made) >= 4:
            return made
        limits = self.ranges[name]
        below = (n for n in range(hint - 1, 1, -1) if n in limits and n not in made)
        return [*made, *(n for n in below if not self._is_refused({name: n}, base))][:12]

    def _alone(self, name: str, base: _Run, runs: list[_Run], others: list[int]) -> list[int]:
        """The sizes at which one symbol, moved alone, gives the same program; none if it is the same
        at some sizes and not at others, unless those are the ones that a number divides.
        """
        hint = self.env.var_to_val[name]
        good: list[int] = []
        bad: list[int] = []
        for other in others:
            found = self.tried({name: other}, base)
            (bad if found is None else good).append(other)
            if found is not None:
                runs.append(found)
        divisor = math.gcd(hint, *good)
        if bad and (divisor == 1 or any(n % divisor == 0 for n in bad)):
            return []
        if bad:
            self.divisors[name] = divisor
        return good

    def _other_sizes(self, name: str, hint: int) -> list[int]:
        """Sizes to move a symbol to: in its range, and below its own where few lie above."""
        others = _others(hint, set(self.env.var_to_val.values()))
        if name not in self.ranges:
            return others
        limits = self.ranges[name]
        above = [n for n in others if n in limits]
        below = [n for n in range(hint - 1, 1, -1) if n in limits]
        return above if len(above) > 7 else [*above, *below][:12]

    def _is_refused(self, moved: Mapping[str, float], base: _Run) -> bool:
        """Whether a guard says already that the trace does not hold there."""
        values = {**self.env.var_to_val, **moved}
        asserted = (question for question, _ in base.env.deferred_runtime_asserts)
        known = [g for g in (*base.env.guards, *asserted) if g.symbols() <= values.keys()]
        return not all(guard.value(values) for guard in known)

    def _together(
        self, base: _Run, runs: list[_Run], values: dict[str, list[int]]
    ) -> GraphModule | None:
        """All symbols moved at once, which shows how they go together; the last such point checks."""
        found = []
        for turn in range(6 if len(values) > 1 else 0):
            moved = {
                n: v[(turn + k * (1 + turn // 3)) % len(v)]
                for k, (n, v) in enumerate(values.items())
            }
            run = self.tried(moved, base)
            if run is not None:
                found.append(run)
        if len(values) > 1 and len(found) < 4:
            self._fix(next(reversed(values)))
            return None
        self.explained = _Explained(self, base, [*runs, *found])
        return self.explained.module()


def _others(hint: int, taken: set[int]) -> list[int]:
    """Sizes to move one of `hint` to: neighbours, of every remainder, and multiples, which keep what
    must divide.
    """
    near = (*range(hint + 1, hint + 9), hint * 2, hint * 3, hint * 4, hint * 5, hint * 7)
    return [n for n in dict.fromkeys(near) if n not in taken]


def _fixes(guard: Question, name: str) -> bool:
    return (
        isinstance(guard, Relation)
        and guard.sign == "=="
        and guard.symbols() == {name}
        and guard.right.number is not None
    )


# ---- what two traces have in common ----


def _describe(run: _Run) -> None:
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


def _same_constants(a: Call, b: Call) -> bool:
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


# ---- the graph ----


class _Explained:
    """The graph of the first trace, in which numbers become expressions in sizes."""

    def __init__(self, tracer: _Tracer, base: _Run, runs: list[_Run]) -> None:
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
        writer = _Writer(graph, self.tracer, self.own)
        numbers = iter(exprs)
        for node in list(graph.nodes):
            args, kwargs = node.args, node.kwargs
            writer.before = node
            made = writer.tree(args, numbers), writer.tree(kwargs, numbers)
            if made != (args, kwargs):
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

    def _at(self, k: int) -> Expression | Real | None:
        """What number `k` is; None if it is the same everywhere."""
        numbers = [run.numbers[k] for run in self.runs]
        if all(n == numbers[0] for n in numbers):
            return None
        return self._explain(numbers, self.known)

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


class _Writer:
    """Writes expressions as nodes: a size is read from the first argument that has it."""

    def __init__(self, graph: Graph, tracer: _Tracer, own: dict[str, Any]) -> None:
        self.graph, self.tracer, self.own = graph, tracer, own
        self.before: Node = graph.output_node()
        self.made: dict[Any, Node] = {}
        self.read: set[Node] = set()  # nodes between an argument and a symbol

    def tree(self, value: Any, numbers: Iterator[Expression | Real | None]) -> Any:
        """Arguments with nodes in place of numbers that depend on sizes."""
        if isinstance(value, SymInt | SymFloat):
            return self.value(value.expr.replaced(self.own))
        if isinstance(value, tuple):
            parts = [self.tree(v, numbers) for v in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, list):
            return [self.tree(v, numbers) for v in value]
        if isinstance(value, dict):
            return {key: self.tree(v, numbers) for key, v in value.items()}
        if isinstance(value, slice):
            return slice(*(self.tree(v, numbers) for v in (value.start, value.stop, value.step)))
        if type(value) in (int, float):
            expr = next(numbers)
            return value if expr is None else self.value(expr)
        return value

    def value(self, expr: Expression | Real) -> Any:
        """The node of an expression, or its number."""
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
