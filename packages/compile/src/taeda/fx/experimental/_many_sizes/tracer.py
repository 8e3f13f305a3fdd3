"""One graph for many sizes: the program is traced at several, and every number that moved is explained.

At the sizes of the call, with symbols in place of them, it tells its guards. Then each symbol is
moved alone, and all together. A symbol stays one if the same operators ran, the same guards were
asked and every number that moved is an expression in symbols; else the trace holds for its number
only, and a guard says so. The last point is not fitted: it only checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.trees import tensors_in
from taeda.compiler import _control  # noqa: F401 - it fills the hook of recorders
from taeda.compiler._graph.capture import Call
from taeda.fx.graph_module import GraphModule

from .._data_sizes import DataSizes
from .._expressions import Expression, Relation, constant, symbol
from .._fakes import FakeCapture, fake_of, fakes_of
from .._logic import Question
from .._ranges import ValueRanges
from .._sizes_mode import SizesMode
from ..symbolic_shapes import ShapeEnv
from .explained import Explained
from .runs import Run, describe, same_constants

__all__ = ["SizeTracer", "Sized", "traced_for_any_size"]


Record = Callable[..., Call]


def traced_for_any_size(
    record: Record, f: Callable[..., Any], args: tuple[Any, ...], names: list[str]
) -> GraphModule:
    """The graph of `f`, with `shape_env`, its guards.
    `record(capture, f, args, names, around)` traces once.
    """
    tracer = SizeTracer(record, f, args, names)
    while True:
        made = tracer.attempt()
        if made is not None:
            return made


class Sized(FakeCapture):
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


class SizeTracer:
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
        self.explained: Explained | None = None
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

    def run(self, moved: dict[str, int]) -> Run:
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
        run = Run(made, env, mode.used)
        describe(run)
        return run

    def capture(self, env: ShapeEnv) -> Sized:
        """What records a trace."""
        return Sized()

    def tried(self, moved: dict[str, int], base: Run) -> Run | None:
        """The trace there, if it is the same but for numbers."""
        try:
            run = self.run(moved)
        except Exception:  # noqa: BLE001 - whatever the program raises there, it is another program
            return None
        same = run.words == base.words and run.guards == base.guards
        return run if same and same_constants(run.call, base.call) else None

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

    def _candidates(self, name: str, base: Run) -> list[int]:
        """Sizes to move a symbol to: those that no guard refuses, and below its own if few do not."""
        hint = self.env.var_to_val[name]
        made = [n for n in self._other_sizes(name, hint) if not self._is_refused({name: n}, base)]
        if name not in self.ranges or len(made) >= 4:
            return made
        limits = self.ranges[name]
        below = (n for n in range(hint - 1, 1, -1) if n in limits and n not in made)
        return [*made, *(n for n in below if not self._is_refused({name: n}, base))][:12]

    def _alone(self, name: str, base: Run, runs: list[Run], others: list[int]) -> list[int]:
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

    def _is_refused(self, moved: Mapping[str, float], base: Run) -> bool:
        """Whether a guard says already that the trace does not hold there."""
        values = {**self.env.var_to_val, **moved}
        asserted = (question for question, _ in base.env.deferred_runtime_asserts)
        known = [g for g in (*base.env.guards, *asserted) if g.symbols() <= values.keys()]
        return not all(guard.value(values) for guard in known)

    def _together(
        self, base: Run, runs: list[Run], values: dict[str, list[int]]
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
        self.explained = Explained(self, base, [*runs, *found])
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
