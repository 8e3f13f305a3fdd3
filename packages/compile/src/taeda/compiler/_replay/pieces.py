"""A program of core with calls in it that call functions: pieces that run one after the other.

inputs ─▶ core.Program ─▶ a part that a tensor chooses ─▶ core.Program ─▶ ... ─▶ outputs
                       └▶ an operator that was defined at run time ─▶ ...
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from taeda._core_api import programs as _core

from .._control._loop import run_loop
from .._graph.steps import Step
from .opaque import opaque

__all__ = ["Chain", "stopped_at"]


Run = Callable[[tuple[Any, ...]], tuple[Any, ...]]


class _Here(threading.local):
    at = -1


_here = _Here()


@dataclass
class _Piece:
    """What runs, the slots that it reads and makes, the slots that nobody reads later, its first
    step."""

    run: Run
    program: Any  # None for a call that calls functions
    reads: list[int]
    outs: list[int | None]
    ends: list[int]
    first: int
    op: str = ""  # an operator that was defined at run time


class Chain:
    """Runs like a `core.Program`. `encode` makes a program of parts, or of neighbouring steps
    that call nothing."""

    def __init__(
        self,
        steps: list[Step],
        slots: int,
        examples: dict[int, Any],
        inputs: int,
        outputs: list[int],
        fixed: tuple[int, ...],
        encode: Callable[[list[Step], list[int], list[int], int], Any],
        part: Callable[[Any], Any],
    ) -> None:
        given = tuple(examples[n] for n in range(inputs))
        self.form = _core.Program((), inputs, given, (), *fixed)
        self.slots, self.outputs = slots, outputs
        self.behind: Callable[[str], None] | None = None  # is told of each kernel that ran
        self.pieces: list[_Piece] = []
        for first, group in _groups(steps):
            later = {s for step in steps[first + len(group) :] for s in step.reads} | set(outputs)
            made = _piece(first, group, later, encode, part)
            if group[0].is_custom:
                kept = [slot for slot in made.outs if slot is not None]
                made.op = group[0].op
                made.run = opaque(group[0], made.run, made.reads, kept, examples, not fixed)
            self.pieces.append(made)

    def run(self, inputs: tuple[Any, ...]) -> Any:
        """The outputs, or NotImplemented if an input is not like its example."""
        if self.form.run(inputs) is NotImplemented:
            return NotImplemented
        values: list[Any] = [*inputs, *[None] * (self.slots - len(inputs))]
        for piece in self.pieces:
            try:
                made = piece.run(tuple(values[n] for n in piece.reads))
                if piece.op and self.behind is not None:
                    self.behind(piece.op)
            except BaseException:
                inside = 0 if piece.program is None else stopped_at(piece.program)
                _here.at = piece.first + max(inside, 0)
                raise
            for slot, value in zip(piece.outs, made, strict=True):
                if slot is not None:
                    values[slot] = value
            del made
            for slot in piece.ends:
                values[slot] = None
        _here.at = -1
        return tuple(values[n] for n in self.outputs)


def stopped_at(program: Any) -> int:
    """At which step the last run of this program raised, in this thread; -1 if it did not."""
    return _here.at if isinstance(program, Chain) else _core.stopped_at()


def _groups(steps: list[Step]) -> list[tuple[int, list[Step]]]:
    """Neighbouring steps that only call rows of the table together, the others alone, each with
    the place of its first."""
    found: list[tuple[int, list[Step]]] = []
    for n, step in enumerate(steps):
        if found and not _is_alone(step) and not _is_alone(found[-1][1][0]):
            found[-1][1].append(step)
        else:
            found.append((n, [step]))
    return found


def _is_alone(step: Step) -> bool:
    return bool(step.parts) or step.is_custom


def _piece(first: int, group: list[Step], later: set[int], encode: Any, part: Any) -> _Piece:
    made = {s for step in group for s in step.outs if s is not None}
    reads = list(dict.fromkeys(s for step in group for s in step.reads if s not in made))
    ends = [s for s in (*reads, *made) if s not in later]
    if not group[0].parts:
        # of an opaque call all: its results are looked at
        outs = sorted(made if group[0].is_custom else made & later)
        program = encode(group, reads, outs, first)
        return _Piece(_checked(program), program, reads, [*outs], ends, first)
    step = group[0]
    one, two = (_checked(part(p), tuple(p.constants)) for p in step.parts)
    run = _choose(one, two) if step.op == "cond" else _repeat(one, two, len(step.outs))
    slots = [slot for _, _, slot in step.patches]
    return _Piece(run, None, slots, [*step.outs], ends, first)


def _checked(program: Any, constants: tuple[Any, ...] = ()) -> Run:
    def run(values: tuple[Any, ...]) -> Any:
        made = program.run(values + constants)
        if made is NotImplemented:
            raise RuntimeError(
                "a value of a compiled program has another dtype or shape than it had"
            )
        return made

    return run


def _choose(true: Run, false: Run) -> Run:
    return lambda values: (true if bool(values[0]) else false)(values[1:])


def _repeat(held: Run, body: Run, n: int) -> Run:
    return lambda values: run_loop(
        lambda *all: held(all), lambda *all: body(all), values[:n], values[n:]
    )
