"""What became of a compiled function, in words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from .._kernels.worker import explained

__all__ = ["Explanation", "explain"]


class Explanation:
    """Graphs, guards and reasons of one compiled function; its text says all of it.

    Args:
        compiled: the state behind the function, as `explain` finds it.

    >>> found = taeda.compiler.explain(lambda x: x.sin() + 1)(taeda.ones(3))
    >>> found.graph_count, found.op_count
    (1, 2)
    """

    def __init__(self, compiled: Any) -> None:
        traces = [trace for found in compiled.traces.values() for trace in found]
        self.name: str = compiled.name
        self.graph_count = len(traces)
        self.graph_break_count = len(compiled.reasons)
        self.break_reasons: list[str] = list(compiled.reasons)
        self.op_count = sum(len(trace.plan.steps) for trace in traces)
        self.out_guards: list[list[str]] = [trace.descriptions for trace in traces]
        self.ops_per_graph: list[list[str]] = [
            [step.op for step in trace.plan.steps] for trace in traces
        ]
        self.units: dict[str, Explanation] = {}
        if compiled.units is not None:
            states = compiled.units.states
            self.units = {compiled.units.name(m): Explanation(state) for m, state in states.items()}
        #: of what runs before the statements that stay as they are, where a function has two parts
        self.first_part: Explanation | None = None
        if compiled.split is not None:
            self.first_part = Explanation(compiled.split.head)
            self.graph_count += self.first_part.graph_count
            self.op_count += self.first_part.op_count
        self.graph_count += sum(unit.graph_count for unit in self.units.values())
        self.op_count += sum(unit.op_count for unit in self.units.values())
        self._lines = [[(step.op, step.line) for step in trace.plan.steps] for trace in traces]
        #: for each graph its chains of elementwise operations, with their C text
        self.chains: list[list[str]] = [
            explained(trace.program, trace.plan.lines) for trace in traces
        ]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.graph_count} graphs, {self.op_count} operations"]
        lines += [f"stays eager: {reason}" for reason in self.break_reasons]
        for number, (steps, guards) in enumerate(zip(self._lines, self.out_guards, strict=True)):
            lines.append(f"graph {number}: {len(steps)} operations, {len(guards)} guards")
            lines += [f"    {op}{line and f'    # {line}'}" for op, line in steps]
            lines += [f"    guard: {guard}" for guard in guards]
            lines += [textwrap.indent(chain, "    ") for chain in self.chains[number]]
        if self.first_part is not None:
            lines += ["before that line: " + str(self.first_part).partition(": ")[2]]
        for name, unit in self.units.items():
            lines += [f"unit {name}: " + str(unit).partition(": ")[2]]
        return "\n".join(lines)

    __repr__ = __str__


def explain(function: Callable[..., Any]) -> Callable[..., Explanation]:
    """A function that calls `function` with its arguments, compiled, and returns an `Explanation`.

    It is called twice, so what it does besides computing happens twice; up to eight times where
    child modules become units.

    Args:
        function: a function or module, compiled or not.

    >>> import taeda
    >>> def f(x):
    ...     return x.sum().item()
    >>> explain(f)(taeda.ones(2)).graph_count
    0
    """
    from .. import compile  # late: it names this module

    inner = getattr(function, "_compiled_call_impl", None) or function  # of Module.compile()
    compiled = getattr(inner, "__taeda_compiled__", None) or getattr(inner, "_compiled", None)
    if compiled is None:
        made = compile(function)
        compiled = getattr(made, "__taeda_compiled__", None) or made._compiled

    def call(*args: Any, **kwargs: Any) -> Explanation:
        seen: list[int] = []
        while len(seen) < 2 or (len(seen) < 8 and seen[-1] != seen[-2]):
            compiled(args, kwargs)
            seen.append(_known(compiled))
        return Explanation(compiled)

    return call


def _known(compiled: Any) -> int:
    """A number that grows while units, or graphs of a first part, are found."""
    if compiled.split is not None:
        return len(compiled.split.head.traces) + 1
    if compiled.units is None:
        return 0
    states = compiled.units.states.values()
    return len(states) + sum(len(state.traces) + len(state.reasons) for state in states)
