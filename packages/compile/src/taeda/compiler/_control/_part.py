"""A function as a graph of its own, inside of a step of another graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor

from .._errors import Refused
from .._graph.passes import shortened
from .._graph.recorder import Recorder
from .._graph.steps import Graph, Step
from ._speculation import alone

__all__ = ["Control", "Part", "call", "generators_of", "part"]


@dataclass(frozen=True)
class Control:
    """Which operator calls functions, and what a recorder is to know of the call."""

    name: str  # "cond", "while_loop", "scan", or "map"
    grad: bool = False  # whether its results want gradients
    mode: bool | None = None  # whether the program records gradients there; None: it never does

    #: of a scan: how many of its tensors are carried, and how many are taken slice by slice
    counts: tuple[int, int] = (0, 0)

    def given(self, tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """What the functions get of its tensors."""
        if self.name == "cond":
            return tensors[1:]
        carried, several = self.counts
        end = carried + several
        with alone():
            slices = [t.select(0, 0) for t in tensors[carried:end]]
        return (*tensors[:carried], *slices, *tensors[end:])


@dataclass
class Part:
    """The steps of a function: its inputs have the first numbers, in order."""

    graph: Graph
    steps: list[Step]
    outputs: list[int]
    count: int  # of inputs
    layouts: list[Any]  # how what it gives lies in memory

    @property
    def constants(self) -> list[Tensor]:
        """Tensors that were made of numbers, which come behind the inputs."""
        return [entry.example for entry in self.graph.inputs[self.count :]]

    def said(self) -> Any:
        """What the steps do: equal for parts that do the same."""
        steps = [
            (s.op, s.form, repr(s.args), s.patches, s.outs, s.targets, [p.said() for p in s.parts])
            for s in self.steps
        ]
        return steps, self.outputs, self.count, [t.tolist() for t in self.constants]


class _PartRecorder(Recorder):
    """Records a function whose inputs are all known."""

    def __init__(self, around: Recorder) -> None:
        super().__init__(self._failed)
        self.reason = ""
        self.around = around
        self.states: dict[int, Any] = {}
        self.exact, self.line, self.is_caught = around.exact, around.line, around.is_caught

    def _failed(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.active = False

    def call_into(self, op: str, args: Any, run: Callable[[], Any], targets: Any) -> Any:
        """As the base class; generators are remembered, for what is drawn here is not drawn by
        the program."""
        for value in args:
            if isinstance(value, taeda.Generator) and id(value) not in self.states:
                self.states[id(value)] = (value, value.get_state())
        return super().call_into(op, args, run, targets)

    def _has_fixed_shape(self, op: str, args: Any, made: Any) -> bool:
        said = self.around.no_fixed_shape(op, args, made)
        if said:
            self._failed(said)
        return not said


def part(around: Recorder, function: Callable[..., Any], given: Iterable[Tensor]) -> Part:
    """The function of these tensors, as `around` would record it. Refused if it cannot be
    recorded."""
    recorder, given = _PartRecorder(around), list(given)
    for tensor in given:
        recorder.add_input("argument", None, tensor)
    with alone():
        with recorder:
            try:
                made = function(*given)
            finally:
                for generator, state in recorder.states.values():
                    generator.set_state(state)
        recorder.active = not recorder.reason
        slots = [recorder.slot_of(t) for t in made] if recorder.active else []
        if recorder.reason or None in slots:
            raise Refused(recorder.reason)
        outputs = [recorder.numbered(slot) for slot in slots if slot is not None]
        layouts = [(tuple(t.shape), tuple(t.stride())) for t in made]
        graph = recorder.finished()
    steps, outputs = shortened(graph, outputs)
    return Part(graph, steps, outputs, len(given), layouts)


def generators_of(steps: Iterable[Step]) -> Iterator[Any]:
    """The generators that steps draw from, those of parts as well."""
    for step in steps:
        yield from (a for a in step.args if isinstance(a, taeda.Generator))
        for inner in step.parts:
            yield from generators_of(inner.steps)


def _check_layouts(recorder: Recorder, one: Part, other: Part) -> None:
    """Refused unless both branches give results of one layout: the steps behind hold the strides of the
    branch that was taken. Gradients may lie differently where the results do not; then the graph has no
    walk for gradients of such a layout.
    """
    for a, b in zip(one.layouts, other.layouts, strict=True):
        if a != b and recorder.exact:
            recorder.unlike = (
                f"a result or gradient of true_fn has shape {a[0]} and strides {a[1]}, that of false_fn has "
                f"shape {b[0]} and strides {b[1]}"
            )
            if not recorder.walking:
                raise Refused(recorder.unlike)


def call(
    recorder: Recorder, what: Control, functions: Any, tensors: tuple[Tensor, ...], below: Any
) -> Any:
    """The call of an operator that calls functions, recorded with each of them as a part."""
    slots = [recorder.slot_of(t) for t in tensors] if recorder.active else [None]
    parts = []
    try:
        if None not in slots and recorder.note_gradients():
            given = what.given(tensors)
            parts = [part(recorder, f, given) for f in functions]
            if what.name == "cond":
                _check_layouts(recorder, *parts)
    except Refused as why:
        recorder.refuse(f"{what.name}: {why}", why.__cause__)
        parts = []
    made = below(functions, tensors)
    if parts and recorder.active:
        recorder.note_control(what, slots, tuple(parts), made)
    return made
