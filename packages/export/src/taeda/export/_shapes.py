"""What every node of a program gives: dtype and device, and its sizes as formulas of the symbols."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import taeda
from taeda import Tensor
from taeda.compiler._errors import UserError
from taeda.fx.experimental._data_sizes import assert_scalar, blank_of
from taeda.fx.experimental._expressions import Expression, constant, symbol
from taeda.fx.experimental._fit import explained
from taeda.fx.experimental._ranges import ValueRanges
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node

from ._formulas_of_numbers import formula_of_node
from ._functions import (
    CONDITION,
    LOOP,
    MAP,
    SCAN,
    calls_functions,
    functions_of,
    given_to,
    sliced_in,
)  # fmt: skip

__all__ = ["note_shapes", "told_by_arguments"]

Points = list[dict[str, Any]]
Known = dict[tuple[int, ...], Expression | int]


def note_shapes(
    gm: GraphModule, hints: dict[str, Any], ranges: dict[str, ValueRanges], guards: Any = ()
) -> None:
    """Write `meta["val"]`, a tensor without memory (a number, a list), and `meta["shape"]` and
    `meta["stride"]`, formulas. A size that none explains is a symbol of its own (u0, u1, ...), which is
    among no ranges; a stride that none explains is that of this trace. A range begins at 2 where the
    formulas do not say what the nodes give at 1, and behind sizes at which a node gives another rank,
    as a `squeeze` does. UserError where that is so of sizes above those of the trace.
    """
    points: Points = []
    runs: list[dict[Node, Any]] = []
    for point in _points(hints, ranges):
        seen = _Blank(gm, point)
        try:
            seen.run(*_inputs(gm, point))
        except MemoryError:
            raise
        except Exception:
            if not points:
                raise
            continue
        if runs and (other := _other_rank(runs[0], seen.values)) is not None:
            _begin_behind(point, hints, ranges, other)
            continue
        points.append(point)
        runs.append(seen.values)
    unknown = (symbol(f"u{n}") for n in itertools.count() if f"u{n}" not in hints)
    # no size is made of a float
    whole = [name for name, hint in hints.items() if type(hint) is int]
    _note(gm, runs, points, whole, unknown)
    for name, limits in ranges.items():
        if (
            name in hints.keys() - _decided(gm)
            and 1 in limits
            and not _explained_at(gm, {**hints, name: 1})
        ):
            ranges[name] = limits & ValueRanges(2)
    _settle_together(gm, hints, ranges, guards)


def _settle_together(
    gm: GraphModule, hints: dict[str, Any], ranges: dict[str, ValueRanges], guards: Any
) -> None:
    """Let ranges begin where the graph gives the sizes that its formulas say, if all are small at once."""
    names = sorted(hints.keys() & ranges.keys() - _decided(gm))
    for floor in (1, 2, 3, 4, *([max(hints[n] for n in names)] if len(names) > 1 else [])):
        least = {n: int(min(max(ranges[n].lower, floor), hints[n])) for n in names}
        point = {**hints, **least}
        if len(names) < 2 or not all(guard.value(point) for guard in guards):
            return  # a call with these sizes is refused
        if _explained_at(gm, point) is not False:
            break
    for name, size in least.items():
        ranges[name] = ranges[name] & ValueRanges(size)


def _other_rank(first: dict[Node, Any], seen: dict[Node, Any]) -> Node | None:
    """A node that gives another rank than in the first run."""
    return next((n for n, made in seen.items() if not _alike(first.get(n), made)), None)


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.dim() == b.dim()
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return all(map(_alike, a, b))  # a list may have fewer parts
    return True


def _begin_behind(
    point: dict[str, Any], hints: dict[str, Any], ranges: dict[str, ValueRanges], node: Node
) -> None:
    """Let the ranges of what is smaller at a point than in the trace begin behind it."""
    smaller = [name for name, size in point.items() if size < hints[name]]
    if not smaller:
        raise UserError(
            f"{node.name} ({node.target}) has another rank where the sizes are {point} than where they "
            f"are {hints}: squeeze the dimensions by name, or limit the Dims"
        )
    for name in smaller:
        ranges[name] = ranges[name] & ValueRanges(point[name] + 1)


def told_by_arguments(gm: GraphModule) -> set[str]:
    """The symbols that sizes of arguments tell: data decide the others."""
    shapes = (n.meta.get("shape") or () for n in gm.graph.find_nodes(op="placeholder"))
    return {name for shape in shapes for size in shape for name in size.symbols()}


def _decided(gm: GraphModule) -> set[str]:
    """The symbols that only data decide."""
    return {node.meta["decided"][0] for node in gm.graph.nodes if "decided" in node.meta}


class _AssertedError(RuntimeError):
    """The run of a program ends at an assertion."""


def _explained_at(gm: GraphModule, point: dict[str, int]) -> bool | None:
    """Whether the formulas give the sizes that the nodes have there; None if the run ends there."""
    seen = _Blank(gm, point)
    try:
        seen.run(*_inputs(gm, point))
    except _AssertedError:
        return None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a graph that does not run there says nothing of it
        return False
    return all(
        _agrees(node.meta["shape"], made, point)
        for node, made in seen.values.items()
        if node.op == "call_function" and "shape" in node.meta
    )


def _agrees(shape: Any, made: Any, point: dict[str, int]) -> bool:
    if isinstance(made, Tensor):
        if len(shape) != made.dim():
            return False
        pairs = zip(shape, made.shape, strict=True)
        return all(not e.symbols() <= point.keys() or e.value(point) == n for e, n in pairs)
    if isinstance(made, tuple | list):
        return len(made) >= len(shape) and all(map(_agrees, shape, made, [point] * len(shape)))
    return True


def _note(
    gm: GraphModule,
    runs: list[dict[Node, Any]],
    points: Points,
    names: list[str],
    unknown: Iterator[Expression],
) -> None:
    """Write what the runs at these points gave."""
    found: Known = {}
    for node in gm.graph.nodes:
        if node.op in ("call_function", "placeholder") and node in runs[0]:
            values = [run[node] for run in runs]
            if node.op == "call_function":
                node.meta["val"] = values[0]
            known = formula_of_node(node) if type(values[0]) is int else None
            if known is None:
                known = _formulas(values, points, names, lambda t: tuple(t.shape), found)
            node.meta["shape"] = _without_gaps(known, unknown)
            strides = _formulas(values, points, names, lambda t: tuple(t.stride()), found)
            node.meta["stride"] = _without_gaps(strides, None)
        if calls_functions(node):
            for function in functions_of(gm, node):
                inner = [_run_of(function, node, run) for run in runs]
                for place in function.graph.find_nodes(op="placeholder"):
                    place.meta["val"] = inner[0][place]
                _note(function, inner, points, names, unknown)


def _run_of(function: GraphModule, node: Node, run: dict[Node, Any]) -> dict[Node, Any]:
    """What the nodes of a function gave where it was called."""
    seen = _Blank(function)
    values = [run[given] if isinstance(given, Node) else given for given in given_to(node)]
    for place in sliced_in(node):
        values[place] = values[place].select(0, 0)
    seen.run(*values)
    return seen.values


def _points(hints: dict[str, int], ranges: Mapping[str, ValueRanges]) -> Points:
    """The sizes of the trace; each moved alone; all moved. Multiples keep what must divide."""
    made = [dict(hints)]
    for name, hint in hints.items():
        made.extend({**hints, name: n} for n in _near(hint, ranges[name]))
    for k in range(6 if len(hints) > 1 else 0):
        point = {}
        for turn, (name, hint) in enumerate(hints.items()):
            near = _near(hint, ranges[name]) or [hint]
            point[name] = near[(k + turn * (1 + k // 3)) % len(near)]
        made.append(point)
    return made


def _near(hint: int, limits: ValueRanges) -> list[int]:
    """Multiples of the hint and its neighbours, and the least sizes, where formulas bend."""
    if type(hint) is float:
        return []
    several = (2 * hint, 3 * hint, 4 * hint, 5 * hint, hint + 1, hint + 2, hint + 3, hint - 1)
    least = int(max(limits.lower, 2))
    near = [n for n in several if n in limits and n > 1][:5]
    low = [n for n in range(least, least + 3) if n in limits and n not in (*near, hint)]
    return near + low


def _inputs(gm: GraphModule, point: dict[str, int]) -> list[Any]:
    made = []
    for node in gm.graph.find_nodes(op="placeholder"):
        tensor = node.meta.get("val")
        if not isinstance(tensor, Tensor):
            made.append(tensor)
            continue
        shape = tuple(e.value(point) for e in node.meta["shape"])
        blank: Any = taeda.empty(shape, dtype=tensor.dtype, device="meta")
        if shape == tuple(tensor.shape):
            blank = taeda.empty_strided(shape, tensor.stride(), dtype=tensor.dtype, device="meta")
        made.append(blank)
    return made


class _Blank(Interpreter):
    """Runs a graph on tensors without memory."""

    def __init__(self, gm: GraphModule, point: Mapping[str, int] | None = None) -> None:
        super().__init__(gm)
        self.values: dict[Node, Any] = {}
        self.point = point or {}
        self.decided: tuple[str, int | None] | None = None

    def run(self, *args: Any, **options: Any) -> Any:
        with taeda.no_grad(), taeda.device("meta"):
            return super().run(*args, **options)

    def run_node(self, n: Node) -> Any:
        self.decided = n.meta.get("decided")
        made = self.values[n] = super().run_node(n)
        return made

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is assert_scalar:
            try:
                return assert_scalar(*args)  # a point at which the run ends is none
            except MemoryError:
                raise
            except RuntimeError as error:
                raise _AssertedError(str(error)) from error
        if self.decided is not None:
            name, dim = self.decided
            if dim is None:
                return self.point[name]
            given = dict(zip((a.name for a in target._schema.arguments), args, strict=False))
            given |= kwargs
            every = tuple(given.get(a.name, a.default_value) for a in target._schema.arguments)
            return blank_of(str(target).removeprefix("aten."), every, self.point[name])
        if target is CONDITION:  # both branches give the same kind of tensors
            return _Blank(args[1]).run(*args[3])
        if target is LOOP:
            return _Blank(args[1]).run(*args[2], *args[3])
        if target in (SCAN, MAP):
            return _of_slices(*args) if target is SCAN else _of_slices(args[0], (), *args[1:])
        if "device" in kwargs:
            kwargs = {**kwargs, "device": taeda.device("meta")}
        if str(target).startswith(("aten.index_put.", "aten.index_put_.")):
            return (
                args[0] if str(target).startswith("aten.index_put_") else taeda.empty_like(args[0])
            )
        return super().call_function(target, args, kwargs)


def _of_slices(function: GraphModule, carried: Any, several: Any, others: Any) -> tuple[Any, ...]:
    """What a scan gives: one step is run, and its outputs are as many as the slices."""
    made = _Blank(function).run(*carried, *(t.select(0, 0) for t in several), *others)
    count, size = len(carried), several[0].shape[0]
    return (*made[:count], *(t.new_empty((size, *t.shape)) for t in made[count:]))


def _formulas(values: list[Any], points: Points, names: list[str], sizes: Any, known: Known) -> Any:
    """Formulas of sizes: of a tensor a tuple, of a number one, of a list a list."""
    first = values[0]
    if isinstance(first, Tensor):
        each = zip(*(sizes(v) for v in values), strict=True)
        return tuple(_formula(list(numbers), points, names, known) for numbers in each)
    if type(first) is int:
        return _formula(values, points, names, known)
    if isinstance(first, tuple | list):
        least = min(len(v) for v in values)
        return [
            _formulas([v[k] for v in values], points, names, sizes, known) for k in range(least)
        ]
    return None


def _formula(
    numbers: list[int], points: Points, names: list[str], known: Known
) -> Expression | int:
    """The formula; the number of this trace if there is none. Most nodes have sizes of others, which
    are `known`.
    """
    if all(n == numbers[0] for n in numbers):
        return constant(numbers[0])
    key = tuple(numbers)
    if key not in known:
        found = explained(numbers, points, names, [])
        known[key] = numbers[0] if found is None else found
    return known[key]


def _without_gaps(made: Any, unknown: Iterator[Expression] | None) -> Any:
    """With a symbol of `unknown` for each number that no formula explains, or that number."""
    if type(made) is int:
        return constant(made) if unknown is None else next(unknown)
    if isinstance(made, tuple | list):
        return type(made)(_without_gaps(one, unknown) for one in made)
    return made
