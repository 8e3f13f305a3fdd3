"""One captured program: inputs, a core program that runs the operations, what it gives back, what
it leaves behind.

arguments ─▶ inputs (arguments, kept tensors, gradients) ─▶ core.Program ─▶ results, gradients to assign
"""

from __future__ import annotations

import functools
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.calls import cast_weight

from .._arguments import objects, tensors_in
from .._control._part import generators_of
from .._errors import NoTrace
from .._graph.passes import shortened, written_inputs
from .._graph.scalars import PythonRandom, Scalars
from .._graph.steps import GRADIENT, Graph, Layout, Step, overlap
from .._kernels import any_pending
from .._kinds import is_immutable, is_record
from .._watch.observer import Observer
from .encode import program
from .joint import Backwards, Joint, dense, expanded
from .pieces import stopped_at
from .rehearsal import tangent, twin, walked
from .results import Spent, builder
from .undo import Undo

__all__ = ["Trace", "missed"]

PATIENCE = 10.0  # seconds that a trial waits for a compiler
missed: Any = object()  # what a trace returns that does not fit the call


class Trace:
    """A program for calls of one key, as long as its guards hold."""

    def __init__(
        self,
        observer: Observer,
        result: Any,
        args: Any,
        kwargs: Any,
        *,
        fuse: bool = True,
        lower: Callable[[Graph, list[int]], Any] | None = None,
    ) -> None:
        recorder = observer.recorder
        observer.rates_settled()
        # identity is only worth something while they live
        self.objects_read = list(observer._old.values())
        self.objects = [o for v in (*args, *kwargs.values()) for o in objects(v)]
        self.guard_count = len(observer.guards)
        self.descriptions = observer.guards.describe()
        self.holds, self.failing = observer.guards.compiled()
        self.has_its_tensors = observer.guards.of_tensors()
        self.trusted = False
        self.audit_at = 0  # which run is proved again
        self.audits: list[float] = []  # the seconds that each took
        self.in_use_since = 0.0
        self.runs = 0  # below zero: the program itself is faster
        self._waits_since: float | None = None
        self.seconds: tuple[list[float], list[float]] = ([], [])  # of the program, of the graph
        self.lost = False  # once against the program
        self._outputs: list[int] = []
        self._containers: set[int] = set()  # lists and dicts of the result
        self._numbers = recorder
        for tensor, grad_fn, requires_grad in recorder.before:
            if tensor.grad_fn is not grad_fn or tensor.requires_grad != requires_grad:
                raise NoTrace("an input is part of another graph afterwards")
            if grad_fn is not None and observer.walks_back:
                raise NoTrace("its backward may go on behind an input, which was computed outside")
        self._consumed: set[int] = set()
        joints: list[Joint] | None = observer.joints
        self._grown = observer.grown if joints is not None else []
        found = [id(t) for t in tensors_in(result)]
        self.grown_places = [found.index(id(t)) for t in self._grown]
        self.grown_outputs: dict[int, int] = {}  # among all outputs, by place
        self.consumed_outputs: set[int] = set()
        if observer.touches_gradients and recorder.gives_gradient():
            raise NoTrace("a gradient is an argument, or reached in another way, as well")
        spec = self._spec(result, observer)
        effects = self._effects(observer)
        graph = recorder.finished()
        self._tie(graph, recorder.tied, recorder.arguments)
        self._inputs = [(i.kind, i.source) for i in graph.inputs]
        while self._inputs and self._inputs[-1][0] == "tangent":
            self._inputs.pop()
        if any(kind == "tangent" for kind, _ in self._inputs):
            raise NoTrace("its backward reads tensors that the program itself does not")
        self._kept = [source for _, source in self._inputs]
        self._varying = [
            (n, kind, source)
            for n, (kind, source) in enumerate(self._inputs)
            if kind in ("argument", "grad", "number", "cast")
        ]
        self.scalars = Scalars(
            [(n, *source) for n, (kind, source) in enumerate(self._inputs) if kind == "scalar"],
            recorder.draws,
            observer.given_numbers(),
        )
        self._has_scalars = bool(recorder.draws) or any(k == "scalar" for k, _ in self._inputs)
        self._casts = [(n, source) for n, kind, source in self._varying if kind == "cast"]
        if self._casts and lower is not None:
            raise NoTrace("a region of autocast around the call keeps its weights")
        self._reads_gradients = any(kind == "grad" for _, kind, _ in self._varying)
        expected = (tuple(self.no_gradient), False), (tuple(self.has_gradient), True)
        self._gradients = [(numbers, there) for numbers, there in expected if numbers]
        self._build = builder(spec)
        self._encode = functools.partial(program, fuse=fuse)
        self._lower = lower
        self.lowered: Any = None  # what `lower` made of the forward graph and its outputs
        self.call: Any = None  # the function that a backend of the user returned
        self.backward: Backwards | None = None
        if joints is not None:
            self.backward = Backwards(graph, joints, self._grown, self._slot, self._encode)
            graph.steps = graph.steps[: self.backward.steps]
        self._finish(graph, effects)
        del self._numbers, self._grown, self._lower, self._containers

    # ---- made ----

    def _slot(self, tensor: Tensor) -> int:
        slot = self._numbers.slot_of(tensor)
        if slot is None:
            raise NoTrace("a gradient that no operation made")
        return self._numbers.numbered(slot)

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
            self.consumed_outputs.add(number)
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
        self.grown_outputs[place] = number
        return ("grown", number, place)

    def _effects(self, observer: Observer) -> list[tuple[int, int | None]]:
        """(input number of a leaf, slot of the gradient it has afterwards); None for no gradient."""
        found: list[tuple[int, int | None]] = []
        recorder = observer.recorder
        self.no_gradient: list[int] = []
        self.has_gradient: list[int] = []
        changed = any(step.form == GRADIENT for step in recorder.graph.steps)
        if changed or any(i.kind == "grad" for i in recorder.graph.inputs):
            observer.touches_gradients = True
        if not recorder.note_gradients():
            raise NoTrace(observer.reason or "a gradient that no operation made")
        for leaf, before, after in recorder.gradients():
            number = -recorder._slots[id(leaf)] - 1
            if not observer.touches_gradients:
                continue
            (self.no_gradient if before is None else self.has_gradient).append(number)
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

    def _finish(self, graph: Graph, effects: list[tuple[int, int | None]]) -> None:
        outputs = [self._numbers.numbered(s) for s in self._outputs]
        if self._lower is not None:
            self.lowered = self._lower(graph, outputs)
        examples = tuple(i.example for i in graph.inputs[: len(self._inputs)])
        self._form = _core.Program((), len(examples), examples, ())
        kept = [] if self.backward is None else [*self.backward.outputs, *self.backward.saved]
        steps, slots = shortened(graph, [*outputs, *kept])
        self.steps = [step for step in steps if step.form != GRADIENT]
        self.lines = [step.line for step in steps]  # of the program's steps
        self._effects_list, self._out_slots = effects, outputs
        self.writes = written_inputs(graph, steps)
        if self._writes_shared(graph):
            raise NoTrace("it writes to one of two inputs that share memory")
        self._first_write = self._lasting(graph, steps)
        if any(step.caught for step in steps[self._first_write :]):
            raise NoTrace("it writes before an operation whose error it may catch")
        self.program = self._encode(graph, list(range(len(self._inputs))), steps, slots)
        self._count = len(outputs)
        generators = list(generators_of(steps))
        # running it again gives the same, and changes nothing
        # besides what it draws of Python's generator
        self._repeats_from_draws = not generators and not self.writes
        self.repeats = self._repeats_from_draws and not self.scalars.draws
        draws = bool(generators) and any(step.may_fail for step in self.steps)
        self.rewinds = list({id(a): a for a in generators}.values()) if draws else []
        if self.scalars.draws:
            self.rewinds.append(PythonRandom())
        self._risked = self._written_before_errors(graph)
        generators += self.backward.generators if self.backward is not None else []
        self.generators = list({id(a): a for a in generators}.values())
        self.generators += [PythonRandom()] * self.scalars.draws

    def _writes_shared(self, graph: Graph) -> bool:
        """Whether an input is written that another one overlaps: copies, which are rehearsed with,
        would not.
        """
        places: dict[int, list[tuple[int, Layout]]] = {}
        for n in range(len(self._inputs)):
            if n in graph.layouts:
                places.setdefault(graph.layouts[n].memory, []).append((n, graph.layouts[n]))
        return any(
            other != n and overlap(graph.layouts[n], layout)
            for n in self.writes
            if n in graph.layouts
            for other, layout in places[graph.layouts[n].memory]
        )

    def _lasting(self, graph: Graph, steps: list[Step]) -> int:
        """The first step that changes something which is there after a run."""
        memory = {graph.layouts[n].memory for n in self.writes if n in graph.layouts}
        for n, step in enumerate(steps):
            slots = [graph.layouts[s].memory for s in step.writes if s in graph.layouts]
            if step.form == GRADIENT or memory.intersection(slots):
                return n
        return len(steps)

    def _written_before_errors(self, graph: Graph) -> list[int] | None:
        """Inputs that are written before an operation that may raise; None if a run that raises
        leaves nothing behind.
        """
        last = max((n for n, step in enumerate(self.steps) if step.may_fail), default=-1)
        if last < 0 or not (self._effects_list or self.writes or self.rewinds):
            return None
        return written_inputs(graph, self.steps[:last])

    def _tie(self, graph: Graph, tied: dict[int, Tensor], count: int) -> None:
        """Which arguments are tensors that guards keep. The others must be none of them."""
        found = [i.example for i in graph.inputs if i.kind == "kept"] + [*tied.values()]
        self._tied = [id(tied[n]) if n in tied else None for n in range(count)]
        ids = {id(t): id(t) for t in found}
        self._kept_id = ids.get if ids else None

    # ---- run ----

    def takes(self, tensors: list[Tensor]) -> bool:
        """Whether these arguments are the kept tensors that they were, and no others."""
        kept = self._kept_id
        return (
            kept is None
            or [kept(id(t)) for t in tensors[: len(tensors) - len(self.scalars.places)]]
            == self._tied
        )

    def is_untouched(self) -> bool:
        """After a run that raised: whether all is as it was, but for the state of generators."""
        return 0 <= stopped_at(self.program) < self._first_write

    def inputs(self, tensors: list[Any], *, peek: bool = True) -> list[Tensor] | None:
        """The tensors that the program reads, in this call; None if a gradient is there or is not,
        against expectation. Unless it may only `peek`, numbers are drawn.
        """
        found = self._kept.copy()
        given = set(map(id, tensors)) if self._reads_gradients else ()
        for number, kind, source in self._varying:
            if kind == "argument":
                found[number] = tensors[source]
            elif kind == "number":
                found[number] = source["lr"]
            elif kind == "cast":
                weight, dtype = source
                if not found[weight].requires_grad:
                    return None
                found[number] = cast_weight(found[weight], dtype)
            elif source.grad is None or id(source.grad) in given:
                return None
            else:
                found[number] = source.grad
        for numbers, there in self._gradients:
            if not _core.gradients_are(found, numbers, there):
                return None
        if self._has_scalars and not self.scalars.put(found, tensors, peek=peek):
            return None
        return found

    def waits_for_chains(self) -> bool:
        """Whether some of it is being compiled, so that its time would say little; not for ever."""
        now = time.monotonic()
        if self._waits_since is None:
            self._waits_since = now
        return now - self._waits_since < PATIENCE and any_pending(self.program)

    def run(self, tensors: list[Tensor], again: Callable[..., Any] | None = None) -> Any:
        """The result of the program; `missed` if an input is not what it was.
        `again` calls the program itself.
        """
        inputs = self.inputs(tensors, peek=False)
        if inputs is None:
            return missed
        made = self.program.run(tuple(inputs))
        if made is NotImplemented:
            return missed
        if self.backward is not None:
            made = self._grow(self.backward, inputs, made, again)
        return self._build(made)

    # ---- run by somebody else's function ----

    @property
    def has_casts(self) -> bool:
        """Whether a region of autocast around the call casts weights for it."""
        return bool(self._casts)

    @property
    def count(self) -> int:
        """How many outputs the graph has."""
        return self._count

    @property
    def leaves_gradients(self) -> bool:
        """Whether a run assigns gradients."""
        return bool(self._effects_list)

    def fits(self, inputs: list[Any]) -> bool:
        """Whether these inputs are like those that were recorded."""
        return self._form.run(tuple(inputs)) is not NotImplemented

    def finish(self, inputs: list[Any], made: tuple[Any, ...]) -> Any:
        """The result of outputs that somebody else computed under autograd; gradients are assigned."""
        for number, output in self._effects_list:
            inputs[number].grad = None if output is None else made[output].detach()
        spent = self.consumed_outputs
        return self._build(tuple(v.detach() if n in spent else v for n, v in enumerate(made)))

    def undo(self, tensors: list[Tensor]) -> Undo | None:
        """The way back from a run by somebody else that raises; None if none is needed."""
        if self._risked is None or (inputs := self.inputs(tensors)) is None:
            return None
        written = (inputs[n] for n in self._risked)
        return Undo([t for t in written if isinstance(t, Tensor)], self.rewinds)

    def rehearse_by(self, lowered: Any, tensors: list[Tensor]) -> Any:
        """As `rehearse`, by the module of the graph; gradients are those of autograd through it."""
        inputs = self.inputs(tensors)
        if inputs is None or not self.fits(inputs):
            return missed
        stand_ins = [twin(t) if isinstance(t, Tensor) else t for t in inputs]
        made = lowered.module(*[stand_ins[n] for n in lowered.inputs])
        grown = [made[n] for _, n in sorted(self.grown_outputs.items())]
        own = {*self.grown_outputs.values(), *self.consumed_outputs}
        if any(v.requires_grad for n, v in enumerate(made) if n not in own):
            raise RuntimeError("autograd would record what the program hides from it")
        found = None
        if self.backward is not None:
            wanted = [stand_ins[n] for n in self.backward.inputs]
            every = (True,) * len(grown)
            (group,) = self.backward.groups
            ways = [walked(grown, wanted, make) for make in (dense, expanded)]
            found = [(group, every, False, *way) for way in ways]
        written = [
            (inputs[n], stand_ins[n].detach()) for n in self.writes if isinstance(inputs[n], Tensor)
        ]
        gradients = [(inputs[n], None if o is None else made[o]) for n, o in self._effects_list]
        return self._build(made), written, gradients, found

    def _grow(self, backward: Backwards, inputs: list[Any], made: Any, again: Any) -> Any:
        n = len(backward.outputs)
        results = [
            t if t._base is None else t.detach() for t in made[self._count : self._count + n]
        ]
        saved = list(made[self._count + n :])
        own = {id(old): new for old, new in zip(made[self._count :], results, strict=False)}
        saved = [own.get(id(value), value) for value in saved]
        more = None
        if self._repeats_from_draws and again is not None:
            more = _More(self, again, [(inputs[w], d, inputs[n]) for n, (w, d) in self._casts])
        backward.attach(inputs, results, saved, more)
        return [own.get(id(value), value) for value in made[: self._count]]

    def _grown_of(self, again: Callable[..., Any]) -> list[Tensor]:
        """The results that want gradients, of the program itself."""
        with taeda.enable_grad():
            return self.grown_in(again())

    def grown_in(self, result: Any) -> list[Tensor]:
        """Those among the tensors of a result of the program itself, in the order of the node's outputs."""
        found = list(tensors_in(result))
        return [found[place] for place in self.grown_places]

    def changed(self, inputs: list[Any]) -> list[Tensor]:
        """The inputs that a run writes, and those whose gradient it assigns."""
        numbers = {*self.writes, *(n for n, _ in self._effects_list)}
        return [inputs[n] for n in sorted(numbers) if isinstance(inputs[n], Tensor)]

    def line_of(self, place: int) -> str:
        """The line of the program that made, or wrote last, an output."""
        slot = self._out_slots[min(place, len(self._out_slots) - 1)] if self._out_slots else -1
        lines = [s.line for s in self.steps if slot in s.outs or slot in s.targets]
        return next((line for line in reversed(lines or self.lines) if line), "")

    def rehearse(self, tensors: list[Tensor], *, sparing: bool = False) -> Any:
        """(results, contents of the inputs it wrote, gradients), with nothing changed; `missed` as
        above. `sparing` makes copies of no more than what is written.
        """
        inputs = self.inputs(tensors, peek=False)
        if inputs is None or not self.fits(inputs):
            return missed
        copied = set(self.writes) if sparing else set(range(len(inputs)))
        hooked = {n for n, t in enumerate(inputs) if _has_hooks(t)}
        if hooked.intersection(self.writes):
            raise RuntimeError("it writes to a tensor that has hooks, which no copy has")
        copied -= hooked
        stand_ins = [
            twin(t) if n in copied and isinstance(t, Tensor) else t for n, t in enumerate(inputs)
        ]
        made = self.program.run(tuple(stand_ins))
        if made is NotImplemented:
            raise RuntimeError("copies of its inputs are not like them")
        written = [(inputs[n], stand_ins[n]) for n in self.writes]
        gradients = [(inputs[n], None if o is None else made[o]) for n, o in self._effects_list]
        backward = self.backward
        if sparing and backward is not None and any(_has_hooks(inputs[n]) for n in backward.inputs):
            backward = None  # hooks would run once more
        found = None if backward is None else self._walk(backward, made)
        return self._build(made), written, gradients, found

    def _walk(self, backward: Backwards, made: Any) -> Any:
        """(group, results, whether sums are apart, their gradients, what comes for each input) by each
        backward program, from random numbers.
        """
        n = len(backward.outputs)
        results, saved = made[self._count : self._count + n], list(made[self._count + n :])
        own = taeda.Generator().manual_seed(0)
        walks = []
        for group, kept in zip(backward.groups, backward.saved_by(saved), strict=True):
            for chosen, apart, make in group.makes:
                start = [r for r, one in zip(group.own(results), chosen, strict=True) if one]
                tangents = [tangent(r, own, make) for r in start]
                found = group.found(kept, chosen, tangents, apart)
                walks.append((group, chosen, apart, tangents, found))
        return walks


def _has_hooks(tensor: Any) -> bool:
    return isinstance(tensor, Tensor) and tensor._hooks is not None


class _More:
    """The results that want gradients, of the program itself."""

    def __init__(self, trace: Trace, again: Any, casts: list[tuple[Tensor, Any, Tensor]]) -> None:
        self._trace, self._again, self._casts = trace, again, casts

    def holds(self) -> bool:
        return bool(self._again.holds())

    def __call__(self) -> list[Tensor]:
        return self._trace._grown_of(functools.partial(self._again, self._casts))
