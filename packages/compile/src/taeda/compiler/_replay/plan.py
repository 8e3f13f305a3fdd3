"""What a recorded call becomes: what a run reads, computes, gives back and leaves behind.

A `Plan` is made once, of all that the observer saw, and never changes. NoTrace where there is none.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from taeda import Tensor
from taeda._core_api import programs as _core

from .._arguments import tensors_in
from .._control._part import generators_of
from .._errors import NoTrace
from .._graph.passes import shortened, written_inputs
from .._graph.scalars import PythonRandom, Scalars
from .._graph.steps import GRADIENT, Graph, Layout, Step, overlap
from .._kinds import is_immutable, is_record
from .._watch.observer import Observer
from .encode import program
from .joint import Backwards, Joint
from .results import Spent, builder

__all__ = ["Inputs", "Plan", "planned"]

# (a leaf among the inputs, the output that is its gradient, or none)
Effect = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where each input of a run comes from."""

    every: list[tuple[str, Any]]  # kind and source
    kept: list[Any]  # what is the same in all runs; the sources of those that are not
    varying: list[tuple[int, str, Any]]  # number, kind and source of those
    casts: list[tuple[int, Any]]  # weights that a region of autocast around the call casts
    reads_gradients: bool
    # leaves with a gradient before a run, and without
    gradients: list[tuple[tuple[int, ...], bool]]
    has_scalars: bool
    tied: list[int | None]  # of each argument the kept tensor that it is
    kept_id: Callable[[int], int | None] | None


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is known of a program before its first run."""

    inputs: Inputs
    scalars: Scalars
    form: Any  # a program without steps: it refuses inputs unlike those that were recorded
    program: Any
    lowered: Any  # what a backend of the user gets: the forward graph as a module
    backward: Backwards | None
    steps: list[Step]
    lines: list[str]  # of the program's steps
    outputs: list[int]  # slots
    build: Callable[[Any], Any]  # the result of the outputs
    effects: list[Effect]
    writes: list[int]  # inputs
    first_write: int  # the first step that changes what is there after a run
    # inputs written before an operation that may raise; None: none matters
    risked: list[int] | None
    repeats: bool  # running it again gives the same, and changes nothing
    repeats_from_draws: bool  # the same, besides what it draws of Python's generator
    rewinds: list[Any]  # generators that have to go back where a run raises
    generators: list[Any]
    calls_custom: bool  # operators that were defined at run time
    assigns: bool  # gradients, also such as are gone at its end
    grown_places: list[int]  # among the tensors of the result: those that take part in a graph
    grown_outputs: dict[int, int]  # their outputs, by place
    consumed_outputs: set[int]  # outputs whose graph a backward inside has used up


def planned(
    observer: Observer, result: Any, fuse: bool, lower: Callable[[Graph, list[int]], Any] | None
) -> Plan:
    """The plan of an observed call that gave `result`. NoTrace says why there is none."""
    return _Planning(observer, result).plan(functools.partial(program, fuse=fuse), lower)


class _Planning:
    """What is found on the way from what an observer saw to a plan."""

    def __init__(self, observer: Observer, result: Any) -> None:
        self._observer, self._recorder, self._result = observer, observer.recorder, result
        self._outputs: list[int] = []
        self._containers: set[int] = set()  # lists and dicts of the result
        self._no_gradient: list[int] = []  # leaves, before a run
        self._has_gradient: list[int] = []
        self._joints: list[Joint] | None = observer.joints
        self._grown = observer.grown if self._joints is not None else []
        self._grown_outputs: dict[int, int] = {}
        self._consumed: set[int] = set()

    def plan(self, encode: Callable[..., Any], lower: Any) -> Plan:
        """In this order: each step may add inputs to the graph, and numbers are given at its end."""
        observer, recorder = self._observer, self._recorder
        self._check_histories()
        found = [id(t) for t in tensors_in(self._result)]
        grown_places = [found.index(id(t)) for t in self._grown]
        if observer.touches_gradients and recorder.gives_gradient():
            raise NoTrace("a gradient is an argument, or reached in another way, as well")
        build = builder(self._spec(self._result, observer))
        effects = self._effects(observer)
        graph = recorder.finished()
        inputs = self._inputs(graph)
        if inputs.casts and lower is not None:
            raise NoTrace("a region of autocast around the call keeps its weights")
        scalars = Scalars(
            [(n, *source) for n, (kind, source) in enumerate(inputs.every) if kind == "scalar"],
            recorder.draws,
            observer.given_numbers(),
        )
        backward = None
        if self._joints is not None:
            backward = Backwards(graph, self._joints, self._grown, self._slot, encode)
            graph.steps = graph.steps[: backward.steps]
        outputs = [recorder.numbered(slot) for slot in self._outputs]
        lowered = None if lower is None else lower(graph, outputs)
        examples = tuple(i.example for i in graph.inputs[: len(inputs.every)])
        form = _core.Program((), len(examples), examples, ())
        kept = [] if backward is None else [*backward.outputs, *backward.saved]
        every, slots = shortened(graph, [*outputs, *kept])
        steps = [step for step in every if step.form != GRADIENT]
        writes = written_inputs(graph, every)
        if _writes_shared(graph, writes, len(inputs.every)):
            raise NoTrace("it writes to one of two inputs that share memory")
        first_write = _first_lasting(graph, every, writes)
        if any(step.caught for step in every[first_write:]):
            raise NoTrace("it writes before an operation whose error it may catch")
        drawn = list({id(g): g for g in generators_of(every)}.values())
        raises = any(step.may_fail for step in steps)
        rewinds = [*drawn * raises, *[PythonRandom()] * scalars.draws]
        generators = [*drawn, *(backward.generators if backward is not None else [])]
        calls_custom = any(step.is_custom for step in every)
        # a gradient that is gone at the end is there if an operation before that raises
        assigns = bool(effects) or any(step.form == GRADIENT for step in every)
        again = not drawn and not writes and not calls_custom
        return Plan(
            inputs=inputs,
            scalars=scalars,
            form=form,
            program=encode(graph, list(range(len(inputs.every))), every, slots),
            lowered=lowered,
            backward=backward,
            steps=steps,
            lines=[step.line for step in every],
            outputs=outputs,
            build=build,
            effects=effects,
            writes=writes,
            first_write=first_write,
            risked=_risked(graph, steps) if assigns or writes or rewinds else None,
            repeats=again and not scalars.draws,
            repeats_from_draws=again,
            rewinds=rewinds,
            generators=[
                *{id(g): g for g in generators}.values(),
                *[PythonRandom()] * scalars.draws,
            ],
            calls_custom=calls_custom,
            assigns=assigns,
            grown_places=grown_places,
            grown_outputs=self._grown_outputs,
            consumed_outputs=self._consumed,
        )

    # ---- inputs ----

    def _check_histories(self) -> None:
        """What was computed outside takes part in no other graph afterwards."""
        for tensor, grad_fn, requires_grad in self._recorder.before:
            if tensor.grad_fn is not grad_fn or tensor.requires_grad != requires_grad:
                raise NoTrace("an input is part of another graph afterwards")
            if grad_fn is not None and self._observer.walks_back:
                raise NoTrace("its backward may go on behind an input, which was computed outside")

    def _inputs(self, graph: Graph) -> Inputs:
        recorder = self._recorder
        tied, kept_id = _tied(graph, recorder.tied, recorder.arguments)
        every = [(i.kind, i.source) for i in graph.inputs]
        while every and every[-1][0] == "tangent":
            every.pop()
        if any(kind == "tangent" for kind, _ in every):
            raise NoTrace("its backward reads tensors that the program itself does not")
        varying = [
            (n, kind, source)
            for n, (kind, source) in enumerate(every)
            if kind in ("argument", "grad", "number", "cast")
        ]
        expected = (tuple(self._no_gradient), False), (tuple(self._has_gradient), True)
        return Inputs(
            every=every,
            kept=[source for _, source in every],
            varying=varying,
            casts=[(n, source) for n, kind, source in varying if kind == "cast"],
            reads_gradients=any(kind == "grad" for _, kind, _ in varying),
            gradients=[(numbers, there) for numbers, there in expected if numbers],
            has_scalars=bool(recorder.draws) or any(kind == "scalar" for kind, _ in every),
            tied=tied,
            kept_id=kept_id,
        )

    # ---- results ----

    def _slot(self, tensor: Tensor) -> int:
        slot = self._recorder.slot_of(tensor)
        if slot is None:
            raise NoTrace("a gradient that no operation made")
        return self._recorder.numbered(slot)

    def _output(self, slot: int) -> int:
        """The number among the outputs of a slot."""
        if slot not in self._outputs:
            self._outputs.append(slot)
        return self._outputs.index(slot)

    def _spec(self, value: Any, observer: Observer) -> Any:
        if isinstance(value, Tensor):
            return self._tensor_spec(value, observer)
        if type(value) in (list, dict, OrderedDict) or is_record(type(value)):
            if observer.is_old(value) and id(value) not in observer.unseen:
                return ("value", value)
            if not observer.may_change(value) or id(value) in self._containers:
                raise NoTrace(f"it returns a {type(value).__name__} that others hold")
            self._containers.add(id(value))
        if type(value) in (list, tuple):
            return (type(value), [self._spec(v, observer) for v in value])
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return ("named", type(value), [self._spec(v, observer) for v in value])
        if isinstance(value, dict) and type(value) in (dict, OrderedDict):
            return (type(value), {k: self._spec(v, observer) for k, v in value.items()})
        if is_record(type(value)):
            fields = {k: self._spec(v, observer) for k, v in vars(value).items()}
            return ("record", type(value), fields)
        if is_immutable(value) or (observer.is_old(value) and id(value) not in observer.unseen):
            return ("value", value)
        raise NoTrace(f"it returns a {type(value).__module__}.{type(value).__qualname__}")

    def _tensor_spec(self, value: Tensor, observer: Observer) -> Any:
        recorder = observer.recorder
        observer.active = True
        slot = recorder.slot_of(value)
        if observer.reason or slot is None:
            raise NoTrace(observer.reason or "it returns a tensor that no operation made")
        number = self._output(slot)
        if slot < 0:
            return ("slot", number)
        if value.requires_grad:
            for place, grown in enumerate(self._grown):
                if grown is value:
                    return self._grown_spec(value, number, place, recorder)
            if value.grad_fn is None or id(value.grad_fn) not in observer.consumed:
                raise NoTrace("it returns a tensor that takes part in a graph for backward")
            self._consumed.add(number)
            return ("consumed", number, Spent(value))
        tensors = [i.example for i in recorder.graph.inputs if i.kind != "number"]
        keys = {_core.storage_key(t) for t in tensors}
        if _core.storage_key(value) in keys:
            raise NoTrace("it returns a view of a tensor that was there before")
        if value._base is not None and any(t.requires_grad for t in tensors):
            raise NoTrace("it returns a view")
        return ("slot", number)

    def _grown_spec(self, value: Tensor, number: int, place: int, recorder: Any) -> Any:
        """A result that takes part in a graph for backward."""
        key = _core.storage_key(value)
        tensors = [i.example for i in recorder.graph.inputs if isinstance(i.example, Tensor)]
        shared = [*tensors, *(other for other in self._grown if other is not value)]
        if any(_core.storage_key(t) == key for t in shared):
            raise NoTrace("it returns a view of a tensor that others see")
        self._grown_outputs[place] = number
        return ("grown", number, place)

    # ---- effects ----

    def _effects(self, observer: Observer) -> list[Effect]:
        """(input number of a leaf, slot of the gradient it has afterwards); None for no gradient."""
        found: list[Effect] = []
        recorder = observer.recorder
        changed = any(step.form == GRADIENT for step in recorder.graph.steps)
        if changed or any(i.kind == "grad" for i in recorder.graph.inputs):
            observer.touches_gradients = True
        if not recorder.note_gradients():
            raise NoTrace(observer.reason or "a gradient that no operation made")
        for leaf, before, after in recorder.gradients():
            number = -recorder._slots[id(leaf)] - 1
            if not observer.touches_gradients:
                continue
            (self._no_gradient if before is None else self._has_gradient).append(number)
            if after is before:
                continue
            if leaf._hooks is not None:
                raise NoTrace("a hook sees the gradient of a tensor")
            if after is None:
                found.append((number, None))
                continue
            slot = recorder.slot_of(after)
            if slot is None:
                raise NoTrace(observer.reason or "a gradient that no operation made")
            if after.requires_grad:
                raise NoTrace("a gradient takes part in a graph (create_graph)")
            found.append((number, self._output(slot)))
        return found


def _writes_shared(graph: Graph, writes: list[int], count: int) -> bool:
    """Whether an input is written that another one overlaps: copies, which are rehearsed with,
    would not.
    """
    places: dict[int, list[tuple[int, Layout]]] = {}
    for n in range(count):
        if n in graph.layouts:
            places.setdefault(graph.layouts[n].memory, []).append((n, graph.layouts[n]))
    return any(
        other != n and overlap(graph.layouts[n], layout)
        for n in writes
        if n in graph.layouts
        for other, layout in places[graph.layouts[n].memory]
    )


def _first_lasting(graph: Graph, steps: list[Step], writes: list[int]) -> int:
    """The first step that changes something which is there after a run."""
    memory = {graph.layouts[n].memory for n in writes if n in graph.layouts}
    for n, step in enumerate(steps):
        slots = [graph.layouts[s].memory for s in step.writes if s in graph.layouts]
        if step.form == GRADIENT or step.is_custom or memory.intersection(slots):
            return n
    return len(steps)


def _risked(graph: Graph, steps: list[Step]) -> list[int] | None:
    """Inputs that are written before an operation that may raise; None if no operation may."""
    last = max((n for n, step in enumerate(steps) if step.may_fail), default=-1)
    return None if last < 0 else written_inputs(graph, steps[:last])


def _tied(
    graph: Graph, tied: dict[int, Tensor], count: int
) -> tuple[list[int | None], Callable[[int], int | None] | None]:
    """Which arguments are tensors that guards keep; the others must be none of them."""
    found = [i.example for i in graph.inputs if i.kind == "kept"] + [*tied.values()]
    ids = {id(t): id(t) for t in found}
    return [id(tied[n]) if n in tied else None for n in range(count)], ids.get if ids else None
