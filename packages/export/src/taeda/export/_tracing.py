"""A program captured for the sizes that its Dims allow.

The sizes of the trace are not those of the example: none is 0 or 1, none equals another one, so that
no relation is found which is there by chance. They are multiples of the example's, which keep what
must divide. Whether 1 gives the same program is tried at the end.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import taeda.compiler._control
from taeda import Tensor
from taeda.compiler._errors import UserError
from taeda.compiler._graph.capture import Call, captured
from taeda.fx.experimental._data_sizes import DataSizes, floats_to_try, item
from taeda.fx.experimental._expressions import Expression, symbol
from taeda.fx.experimental._fakes import FakeCapture, NoValue, fake_of
from taeda.fx.experimental._for_any_size import ForAnySize
from taeda.fx.experimental._many_sizes.runs import Run
from taeda.fx.experimental._many_sizes.tracer import Sized, SizeTracer
from taeda.fx.experimental._ranges import ValueRanges, settled
from taeda.fx.experimental.symbolic_shapes import ShapeEnv
from taeda.fx.graph_module import GraphModule

from ._dims import Symbols, read_from

_ = taeda.compiler._control  # branches and loops of programs are recorded by it

__all__ = ["Captured", "captured_for", "runs_at", "sizes_to_trace"]

Plan = list[tuple[Expression, ...]]
_LOW = (1, 2, 3, 4)  # sizes at which programs bend
_INTEGERS = (*range(2, 300), *range(-300, 0))
_TRUTHS = (1, 0)


class Captured:
    """A graph of plain inputs, what must hold for its sizes, and which of them became numbers."""

    def __init__(self, module: ForAnySize, tracer: _PlannedTracer) -> None:
        self.module = module
        self.seen = tracer.base_seen
        self.fixed = set(tracer.fixed)
        self.ranges = {**tracer.limits, **tracer.of_data}
        self.guards = [
            g
            for g in module.shape_env.get_nontrivial_guards()
            if g.symbols()
            and not g.symbols() <= self.fixed
            and settled(g, tracer.limits) is not True
        ]
        self.hints = {**tracer.hints, **{n: tracer.env.var_to_val[n] for n in tracer.of_data}}


def captured_for(
    f: Callable[..., Any],
    tensors: list[Tensor],
    names: list[str],
    plan: Plan,
    symbols: Symbols,
    turn: int,
    line: Callable[[], str] | None = None,
    near: frozenset[str] = frozenset(),
    seen: Callable[[], tuple[str, Any]] | None = None,
) -> Captured:
    """The graph of `f`. `turn` chooses among sizes at which it is traced, and those `near` are the
    example's; what `line` gives is kept with each node. `seen` tells of the last call what a graph does
    not: as text, which must be the same at all sizes, and as a value, which of the trace is kept.
    """
    hints = sizes_to_trace(tensors, plan, symbols, turn, near)
    tracer = _PlannedTracer(f, tensors, names, plan, symbols, hints, line, seen)
    while True:
        made = tracer.attempt()
        tracer.check_data()
        if made is not None:
            assert isinstance(made, ForAnySize)
            tracer.strip(made)
            tracer.settle_least(symbols.sizes)
            return Captured(made, tracer)


def runs_at(
    f: Callable[..., Any],
    tensors: list[Tensor],
    names: list[str],
    plan: Plan,
    symbols: Symbols,
    sizes: dict[str, int],
) -> Exception | None:
    """What the program raises at these sizes; None if it runs."""
    try:
        _PlannedTracer(f, tensors, names, plan, symbols, sizes).run({})
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the program raises there is the answer
        return error
    return None


def sizes_to_trace(
    tensors: list[Tensor], plan: Plan, symbols: Symbols, turn: int, near: frozenset[str]
) -> dict[str, int]:
    """A size for each symbol: in its range, not 0 or 1, unlike all other sizes; that of the example
    for those `near` it.
    """
    taken = {n for t, exprs in zip(tensors, plan, strict=True) for n in _numbers(t, exprs)}
    made: dict[str, int] = {}
    for name, limits in symbols.ranges.items():
        own = symbols.sizes[name]
        if name in near and own > 1:
            made[name] = own
            continue
        several = [own * k for k in range(1, 12)] if own > 1 else [6, 10, 12, 14, 15, 18, 20]
        beside = [n for n in range(2, 40) if n not in several]
        allowed = [n for n in (*several, *beside) if n > 1 and n in limits]
        if not allowed:
            raise UserError(
                f"{symbols.shown[name]} can only be 0 or 1, each of which is a program of its own: "
                "leave the size out of dynamic_shapes"
            )
        fresh = [n for n in allowed if n not in taken] or allowed
        made[name] = fresh[min(turn, len(fresh) - 1)]
        taken.add(made[name])
    return made


def _numbers(tensor: Tensor, exprs: tuple[Expression, ...]) -> list[int]:
    return [e.number for e in exprs if e.number is not None]


def _recorded(
    trace: FakeCapture, f: Callable[..., Any], args: tuple[Any, ...], names: list[str], around: Any
) -> Call:
    """One call, with regions without gradients as nodes."""
    try:
        made = captured(trace, f, args, names, modes=True, around=around)
    except NoValue as why:
        made = str(why)
    except MemoryError:
        raise
    except Exception:
        if not trace.reason:
            raise
        made = trace.reason  # the program found a value that nobody wrote
    finally:
        trace.put_back()
    if isinstance(made, str):
        raise RuntimeError(f"export: there is no graph of this call: {made}")
    return made


class _PlannedTracer(SizeTracer):
    """The tracer for any sizes, whose symbols are given."""

    def __init__(
        self,
        f: Any,
        tensors: list[Tensor],
        names: list[str],
        plan: Plan,
        symbols: Symbols,
        hints: dict[str, int],
        line: Callable[[], str] | None = None,
        seen: Callable[[], tuple[str, Any]] | None = None,
    ) -> None:
        self.wanted, self.hints = plan, hints
        self.seen = seen
        self.base_seen: Any = None
        given = tuple(
            fake_of(t, tuple(e.value(hints) for e in exprs))
            if any(e.number is None for e in exprs)
            else t
            for t, exprs in zip(tensors, plan, strict=True)
        )

        def record(trace: FakeCapture, f: Any, *rest: Any) -> Call:
            trace.keeps_scans = True
            if line is not None:
                trace.line = line
            assert trace.data is not None
            return _recorded(trace, trace.data.followed(f), *rest)

        self.of_data: dict[str, ValueRanges] = {}  # symbols that only data decide
        self.decided: list[tuple[str, int | None]] = []  # those of the last results
        super().__init__(record, f, given, names)
        self.limits = dict(symbols.ranges)
        self.ranges = {n: r & ValueRanges(2) for n, r in symbols.ranges.items()}

    def _dimension(self, number: int, dim: int, size: int) -> Expression:
        expr = self.wanted[number][dim]
        for name in expr.symbols():
            self.env.var_to_val[name] = self.hints[name]
            self.env.var_to_sources.setdefault(name, []).append(f"tensor {number}, dimension {dim}")
        if (read := read_from(expr)) is not None:
            plain = expr == symbol(read)
            if read not in self.where:
                self.where[read] = (number, dim)
                if not plain:
                    self.formulas[read] = expr
            elif plain and self.formulas.pop(read, None) is not None:
                self.where[read] = (number, dim)
        return expr

    def attempt(self) -> GraphModule | None:
        self.env.guards.clear()
        return super().attempt()

    # ---- what only data decide ----

    def capture(self, env: ShapeEnv) -> Sized:
        made = super().capture(env)
        made.sizes_of_data = self.data = DataSizes(env)
        return made

    def run(self, moved: dict[str, int]) -> Run:
        run = super().run(moved)
        if not moved and (chosen := _fitting(run.env)):
            self.env.var_to_val.update(chosen)
            run = super().run(moved)
        if self.seen is not None:
            text, value = self.seen()
            run.words.append(text)
            self.base_seen = value if not moved else self.base_seen
        data = self.data
        for name, known in self.of_data.items() if moved else ():  # a bound may follow a size
            if run.env.var_to_range.get(name, known) != known:
                self.of_data[name] = ValueRanges(0 if known.lower >= 0 else -math.inf)
        if not moved:
            self.of_data = {name: run.env.var_to_range[name] for name, _, _ in data.made}
            self.decided = [(name, dim) for name, _, dim in data.made]
            for place, (name, dim) in zip(range(-len(self.decided), 0), self.decided, strict=True):
                self.told_by.setdefault(name, (place, dim))
                if not self.of_data[name].issubset(ValueRanges(0, 1)):  # a truth is no number
                    self.where.setdefault(name, (-1, place))
                self.env.var_to_val[name] = run.env.var_to_val[name]
                least = -math.inf if self._is_float(name) else max(2, self.of_data[name].lower)
                self.ranges.setdefault(name, ValueRanges(least))
        return run

    def _is_float(self, name: str) -> bool:
        return isinstance(self.env.var_to_val[name], float)

    def _candidates(self, name: str, base: Run) -> list[Any]:
        if not self._is_float(name):
            return super()._candidates(name, base)
        taken = set(self.env.var_to_val.values())
        others = [n for n in floats_to_try() if n not in taken]
        return [n for n in others if not self._is_refused({name: n}, base)][:12]

    def _alone(self, name: str, base: Run, runs: list[Run], others: list[Any]) -> list[Any]:
        if not self._is_float(name):
            return super()._alone(name, base, runs, others)
        found = [self.tried({name: other}, base) for other in others]
        if None in found:  # another program at some of them
            return []
        runs.extend(run for run in found if run is not None)
        return others

    def check_data(self) -> None:
        """UserError for a program that is one for some numbers only of what data decide."""
        if fixed := sorted(self.fixed.keys() & self.of_data.keys()):
            raise UserError(
                f"the program is another one for other values of {self._said_of(fixed[0])}, which only "
                "data decide: a result has a size that is no formula of it, or an operator takes it for "
                "a number"
            )
        for guard in self.env.guards:
            if found := sorted(guard.symbols() & self.of_data.keys()):
                raise UserError(
                    f"the program branches on {guard}, and only data decide {self._said_of(found[0])}: "
                    "a branch becomes taeda.cond; what always holds is said by taeda._check"
                )

    def _said_of(self, name: str) -> str:
        _, dim = self.told_by[name]
        return (
            f"{name} (the number in a tensor)" if dim is None else f"{name} (the size of a result)"
        )

    def strip(self, made: GraphModule) -> None:
        """Let the graph give its own results only, and its nodes know the symbols that they tell."""
        if not self.of_data:
            return
        output = made.graph.output_node()
        results: Any = output.args[0]
        count = len(self.decided)
        for (name, dim), node in zip(self.decided, results[-count:], strict=True):
            node = node.args[0] if node.target is operator.getitem else node
            node.meta["decided"] = name, dim
        for node in made.graph.nodes:
            if node.target is item:
                node.meta["decided"] = node.args[0].meta.pop("decided")
        output.args = (results[:-count],)
        made.recompile()

    def settle_least(self, own: dict[str, int]) -> None:
        """Let ranges begin at the least size for which the graph is right, and note the symbols for
        which it is not right at their `own` sizes, those of the example.
        """
        for name, limits in self.limits.items():
            hint = self.hints[name]
            least = hint if name in self.moving else min(2, hint)
            below = {n for n in (*_LOW, own[name], hint // 2, hint - 1) if 1 <= n < hint}
            for size in sorted((n for n in below if n in limits), reverse=True):
                if name not in self.moving:
                    break
                if size > 1 and self._are_beyond_guards({name: size}):
                    least = min(2, hint)  # the guards bound the range
                    break
                if not self._right_at({name: size}):
                    break
                least = size
            self._begin(name, least, own)
        self._settle_together(own)

    def _begin(self, name: str, least: int, own: dict[str, int]) -> None:
        """Let the range of a symbol begin there."""
        self.limits[name] = self.limits[name] & ValueRanges(least)
        if 1 < own[name] < least:
            self.fixed[name] = self.hints[name]

    def _settle_together(self, own: dict[str, int]) -> None:
        """The same where all sizes are small at once: a sum of two bends where neither does alone."""
        moving = [name for name in self.limits if name in self.moving]
        if len(moving) < 2:
            return
        for floor in (*_LOW, max(self.hints.values())):
            point = {n: int(min(max(self.limits[n].lower, floor), self.hints[n])) for n in moving}
            if self._are_beyond_guards(point) or self._right_at(point, alike=True):
                break
        for name, size in point.items():
            self._begin(name, size, own)

    def _are_beyond_guards(self, moved: dict[str, int]) -> bool:
        assert self.explained is not None
        return not _hold(self.explained.base, {**self.hints, **moved})

    def _right_at(self, moved: dict[str, int], alike: bool = False) -> bool:
        """Whether the operators are the same at sizes below those of the trace, where nothing is known
        of them, and the formulas of the graph give its numbers. What is only `alike` may have others:
        a copy of what has one row is none.
        """
        chosen = {n: self.env.var_to_val[n] for n in self.of_data}
        before, values = self.ranges, {**chosen, **self.hints, **moved}
        small = {n: ValueRanges(min(k, 2), before[n].upper) for n, k in moved.items()}
        self.ranges = {**before, **small}
        try:
            run = self.run(moved)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - whatever the program raises there, it is another program
            return False
        finally:
            self.ranges = before
        made = self.explained
        assert made is not None
        if run.words != made.base.words or not _hold(made.base, values):
            return alike
        there = [
            was if expr is None else expr.value(values)
            for was, expr in zip(made.base.numbers, made.exprs, strict=True)
        ]
        return there == run.numbers


def _fitting(env: ShapeEnv) -> dict[str, Any]:
    """Numbers for what data decide that the assertions of the program allow; none if those that were
    chosen fit. UserError if there are none but 0 and 1.
    """
    values, made = dict(env.var_to_val), {}
    for question, said in env.deferred_runtime_asserts:
        names = question.symbols() & env.chosen
        if not question.symbols() <= values.keys() or question.value(values) or not names:
            continue
        name = min(names)
        others = [q for q, _ in env.deferred_runtime_asserts if q.symbols() <= values.keys()]
        several: Any = floats_to_try() if isinstance(values[name], float) else _INTEGERS
        if env.var_to_range[name].issubset(ValueRanges(0, 1)):
            several = _TRUTHS
        numbers = (n for n in several if n in env.var_to_range[name])
        fit = (n for n in numbers if all(q.value({**values, name: n}) for q in others))
        if (found := next(fit, None)) is None:
            raise UserError(
                f"the program checks {question} ({said:.100}), for which no number is found here among "
                f"{_shown(several)} where the other sizes are {env.var_to_val}: pass it as an argument, or "
                "check less"
            )
        made[name] = values[name] = found
    return made


def _shown(numbers: Any) -> str:
    whole = "-300 to -1 and 2 to 299"
    return whole if numbers is _INTEGERS else ", ".join(f"{n:.3g}" for n in numbers)


def _hold(base: Run, values: dict[str, int]) -> bool:
    known = [g for g in base.env.guards if g.symbols() <= values.keys()]
    return all(guard.value(values) for guard in known)
