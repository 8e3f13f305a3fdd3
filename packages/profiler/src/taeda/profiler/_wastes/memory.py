"""Memory that grows by the step."""

from __future__ import annotations

import ast
import linecache
import sys
import weakref
from collections import defaultdict
from typing import Any

import taeda
from taeda import Tensor

from ._run import MANY_STEPS, Call, Finding, Run, Waste

__all__ = ["RetainedGraphs"]

GRAPH = 1024  # bytes of a step that are more than its results
_OWN = tuple(taeda.__path__)


class RetainedGraphs(Waste):
    """Results of former steps that still hold the graph they came from."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._held: dict[str, tuple[int, int]] = {}  # by line: bytes, steps
        self._holder = ""
        self._last: tuple[weakref.ref[Tensor], str, int] | None = None
        self._nodes: weakref.WeakKeyDictionary[Any, tuple[str, int]] = weakref.WeakKeyDictionary()

    def operation(self, call: Call) -> None:
        """A result has its node only after this: the one before is looked at."""
        self._note_last()
        if isinstance(call.made, Tensor) and not call.backward:
            self._last = weakref.ref(call.made), call.place, call.step

    def _note_last(self) -> None:
        if self._last is not None:
            made, place, step = self._last
            if (tensor := made()) is not None and tensor.grad_fn is not None:
                self._nodes[tensor.grad_fn] = place, step
        self._last = None

    def _lines_of_graphs(self) -> set[str]:
        """Lines whose graphs of many former steps are alive: results without their graphs are kept often."""
        self._note_last()
        steps: defaultdict[str, set[int]] = defaultdict(set)
        for place, step in self._nodes.values():
            if step < self.run.step - 1:
                steps[place].add(step)
        most = min(MANY_STEPS - 1, self.run.step - 2)
        return {place for place, seen in steps.items() if len(seen) >= most}

    def after_step(self) -> None:
        """Looked at in steps that are powers of two: a look costs as much as there are blocks."""
        step = self.run.step
        if step < MANY_STEPS or step & (step - 1):
            return
        sizes: defaultdict[str, int] = defaultdict(int)
        steps: defaultdict[str, set[int]] = defaultdict(set)
        lines = self._lines_of_graphs()
        for held in self.run.ledger.live.values():
            if held.origin.place in lines and held.origin.grad and held.origin.step < step - 1:
                sizes[held.origin.place] += held.size
                steps[held.origin.place].add(held.origin.step)
        self._held = {
            place: (size, len(steps[place]))
            for place, size in sizes.items()
            if len(steps[place]) >= min(MANY_STEPS - 1, step - 2)
        }
        if self._held:
            self._holder = _holder() or self._holder
        each = sum(size for size, _ in self._held.values()) // step
        if each < GRAPH and not self._holder:  # numbers without their graphs
            self._held = {}

    def found(self) -> list[Finding]:
        if not self._held:
            return []
        place = max(self._held, key=lambda one: self._held[one])
        size = sum(size for size, _ in self._held.values())
        steps = max(count for _, count in self._held.values())
        by = f", which {self._holder} holds," if self._holder else ""
        return [
            Finding(
                place,
                f"the graphs of {steps} former steps{by} are still in memory, {size:,} bytes. Keep "
                "loss.detach() or loss.item(), not the loss itself.",
                f"{size // max(1, steps):,} bytes a step that are given back",
            )
        ]


def _holder() -> str:
    """What names of the program hold results with graphs: `name` and the line that fills it."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_OWN):
            for name, value in list(frame.f_locals.items()):
                if found := _held_by(file, name, value):
                    return found
        frame = frame.f_back
    return ""


def _held_by(file: str, name: str, value: Any) -> str:
    if _graphs(value) >= MANY_STEPS - 1:
        return _filled(file, name)
    if isinstance(value, Tensor) and value.grad_fn is not None and value.numel() == 1:
        return _summed(file, name)
    return ""


def _graphs(value: Any) -> int:
    """How many tensors of a container belong to a graph."""
    items = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list, tuple, set)):
        return 0
    return sum(isinstance(item, Tensor) and item.grad_fn is not None for item in items)


def _filled(file: str, name: str) -> str:
    """`name`, with the line where something is put in."""
    for node in ast.walk(_tree(file)):
        target: Any = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = node.func.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0].value
        if isinstance(target, ast.Name) and target.id == name:
            return f"{name} ({file}:{node.lineno})"  # type: ignore[attr-defined]  # both have one
    return name


def _summed(file: str, name: str) -> str:
    """`name` with the line where it is added to; "" if no line does that."""
    for node in ast.walk(_tree(file)):
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id == name
        ):
            return f"{name} ({file}:{node.lineno})"
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == name
            and isinstance(node.value, ast.BinOp)
            and any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node.value))
        ):
            return f"{name} ({file}:{node.lineno})"
    return ""


def _tree(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):  # no text of Python: a notebook's cell with its own words
        return ast.Module([], [])
