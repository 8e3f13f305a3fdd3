"""One captured program: inputs, a core program that runs the operations, what it gives back, what it leaves behind.

arguments ─▶ inputs (arguments, kept tensors, gradients) ─▶ core.Program ─▶ results, gradients to assign
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api import runtime

from ._joint import Backward, Joint, without_history
from ._kinds import is_immutable, is_plain_tensor
from ._observe import Observer
from ._passes import may_wait, shortened
from ._record import WRITES_SELF, Graph, Step

__all__ = ["NoTrace", "Trace", "flatten", "missed", "tensors_in"]

missed: Any = object()  # what a trace returns that does not fit the call


class NoTrace(Exception):
    """Why a recorded run gives no program."""


# ---- arguments ----


def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Tensor]]:
    """(what the call is like apart from its tensors, the tensors); unhashable parts are named by their id."""
    plain = None if kwargs else _of_tensors(args)
    if plain is not None:
        return plain
    tensors: list[Tensor] = []
    key = [_key(value, tensors) for value in args]
    if kwargs:
        key += [(name, _key(value, tensors)) for name, value in kwargs.items()]
    return (len(args), *key), tensors


def _of_tensors(args: tuple[Any, ...]) -> tuple[Any, list[Tensor]] | None:
    """The same where every argument is a tensor; None elsewhere."""
    tensors: list[Tensor] = []
    key: list[Any] = [len(args)]
    for value in args:
        if type(value) is not Tensor:
            return None
        for i, other in enumerate(tensors):
            if other is value:
                key.append(("again", i))
                break
        else:
            key.append(Tensor)
            tensors.append(value)
    return tuple(key), tensors


def _key(value: Any, tensors: list[Tensor]) -> Any:
    kind = type(value)
    if kind is Tensor or is_plain_tensor(value):
        for i, other in enumerate(tensors):
            if other is value:
                return ("again", i)
        tensors.append(value)
        return Tensor
    if kind in (list, tuple):
        return (kind, *[_key(v, tensors) for v in value])
    if kind is dict:
        return (kind, *[(k, _key(v, tensors)) for k, v in value.items()])
    if kind in (float, complex):
        return (kind, repr(value))
    if is_immutable(value):
        return (kind, value) if kind is not slice else (kind, repr(value))
    return ("object", id(value))


def objects(value: Any) -> Any:
    """What of the arguments a key names by its id."""
    if type(value) in (list, tuple):
        for v in value:
            yield from objects(v)
    elif type(value) is dict:
        for v in value.values():
            yield from objects(v)
    elif not is_plain_tensor(value) and not is_immutable(value):
        yield value


def containers(value: Any) -> Any:
    """Lists and dicts among the arguments, at any depth."""
    if type(value) in (list, tuple, dict):
        yield value
        for v in value.values() if type(value) is dict else value:
            yield from containers(v)


# ---- results ----


class _Spent:
    """In place of the node of a result whose graph a backward inside of the program has used up."""

    def __init__(self, example: Tensor) -> None:
        self.node = runtime.python_node(self, (_anchor,), 1)
        runtime.set_output_meta(self.node, 0, example.detach())

    def _run_backward(self, *gradients: Any) -> Any:
        raise RuntimeError(
            "Trying to backward through the graph a second time: the compiled program that gave this result went through it "
            "already. Call backward inside of the program with retain_graph=True if it is needed afterwards."
        )

    def _name(self) -> str:
        return "SpentBackward"

    def _release(self) -> None:
        """Nothing is kept."""


_anchor = taeda.zeros((), requires_grad=True)


class Trace:
    """A program for calls of one key, as long as its guards hold."""

    def __init__(
        self, observer: Observer, result: Any, args: Any, kwargs: Any, *, fuse: bool = True,
        lower: Callable[[Graph, list[int]], Any] | None = None,
    ) -> None:  # fmt: skip
        recorder = observer.recorder
        observer.rates_settled()
        self._watch = list(
            observer._old.values()
        )  # identity is only worth something while they live
        self.objects = [o for v in (*args, *kwargs.values()) for o in objects(v)]
        self.guard_count = len(observer.guards)
        self.descriptions = observer.guards.describe()
        self.holds, self.failing = observer.guards.compiled()
        self.trusted = False
        self.runs = 0  # below zero: the program itself is faster
        self.seconds: tuple[list[float], list[float]] = ([], [])  # of the program, of the graph
        self._outputs: list[int] = []
        self._numbers = recorder
        for tensor, grad_fn, requires_grad in recorder.before:
            if tensor.grad_fn is not grad_fn or tensor.requires_grad != requires_grad:
                raise NoTrace("an input is part of another graph afterwards")
        self._consumed: set[int] = set()
        joint: Joint | None = observer.joint
        self._grown = joint.outputs if joint is not None else []
        found = [id(t) for t in tensors_in(result)]
        self.grown_places = [found.index(id(t)) for t in self._grown]
        self.grown_outputs: dict[int, int] = {}  # among all outputs, by place
        self.consumed_outputs: set[int] = set()
        spec = self._spec(result, observer)
        effects = self._effects(observer)
        graph = recorder.finished()
        self._inputs = [(i.kind, i.source) for i in graph.inputs]
        while self._inputs and self._inputs[-1][0] == "tangent":
            self._inputs.pop()
        if any(kind == "tangent" for kind, _ in self._inputs):
            raise NoTrace("its backward reads tensors that the program itself does not")
        self._kept = [source for _, source in self._inputs]
        self._varying = [
            (n, kind, source)
            for n, (kind, source) in enumerate(self._inputs)
            if kind in ("argument", "grad", "number")
        ]
        self._build = _builder(spec)
        self._encode = functools.partial(_program, fuse=fuse)
        self._lower = lower
        self.lowered: Any = None  # what `lower` made of the forward graph and its outputs
        self.call: Any = None  # the function that a backend of the user returned
        self.backward: Backward | None = None
        if joint is not None:
            encode = functools.partial(_program, fuse=fuse, saved=True)
            self.backward = Backward(graph, joint, self._slot, encode)
            graph.steps = graph.steps[: self.backward.steps]
        self._finish(graph, effects)
        del self._numbers, self._grown, self._lower

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
        if type(value) in (list, tuple):
            return (type(value), [self._spec(v, observer) for v in value])
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return ("named", type(value), [self._spec(v, observer) for v in value])
        if type(value) is dict:
            return (dict, {k: self._spec(v, observer) for k, v in value.items()})
        if is_immutable(value) or observer.is_old(value):
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
            return ("consumed", number, _Spent(value))
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
        changed = any(after is not before for _, before, after in recorder.gradients())
        if changed or any(i.kind == "grad" for i in recorder.graph.inputs):
            observer.touches_gradients = True
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
        self.steps = steps
        self._effects_list = effects
        self.writes = _written_inputs(graph, steps)
        self.program = self._encode(graph, list(range(len(self._inputs))), steps, slots)
        self._count = len(outputs)
        generators = [a for s in steps for a in s.args if isinstance(a, taeda.Generator)]
        self.repeats = (
            not generators and not self.writes
        )  # running it again gives the same, and changes nothing
        generators += self.backward.generators if self.backward is not None else []
        self.generators = list({id(a): a for a in generators}.values())

    # ---- run ----

    def inputs(self, tensors: list[Tensor]) -> list[Tensor] | None:
        """The tensors that the program reads, in this call; None if a gradient is there or is not, against expectation."""
        found = self._kept.copy()
        for number, kind, source in self._varying:
            if kind == "argument":
                found[number] = tensors[source]
            elif kind == "number":
                found[number] = source["lr"]
            elif source.grad is None:
                return None
            else:
                found[number] = source.grad
        for number in self.no_gradient:
            if not found[number].is_leaf or found[number].grad is not None:
                return None
        for number in self.has_gradient:
            if not found[number].is_leaf or found[number].grad is None:
                return None
        return found

    def run(self, tensors: list[Tensor], again: Callable[[], Any] | None = None) -> Any:
        """The result of the program; `missed` if an input is not what it was. `again` calls the program itself."""
        inputs = self.inputs(tensors)
        if inputs is None:
            return missed
        made = self.program.run(tuple(inputs))
        if made is NotImplemented:
            return missed
        for number, output in self._effects_list:
            inputs[number].grad = None if output is None else made[output]
        if self.backward is not None:
            made = self._grow(self.backward, inputs, made, again)
        return self._build(made)

    # ---- run by somebody else's function ----

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

    def rehearse_by(self, lowered: Any, tensors: list[Tensor]) -> Any:
        """As `rehearse`, by the module of the graph; gradients are those of autograd through it."""
        inputs = self.inputs(tensors)
        if inputs is None or not self.fits(inputs):
            return missed
        stand_ins = [_twin(t) if isinstance(t, Tensor) else t for t in inputs]
        made = lowered.module(*[stand_ins[n] for n in lowered.inputs])
        grown = [made[n] for _, n in sorted(self.grown_outputs.items())]
        own = {*self.grown_outputs.values(), *self.consumed_outputs}
        if any(v.requires_grad for n, v in enumerate(made) if n not in own):
            raise RuntimeError("autograd would record what the program hides from it")
        walked = None
        if self.backward is not None:
            wanted = [stand_ins[n] for n in self.backward.wanted]
            walked = [_walked(grown, wanted, expanded) for expanded in (False, True)]
        written = [
            (inputs[n], stand_ins[n].detach()) for n in self.writes if isinstance(inputs[n], Tensor)
        ]
        gradients = [(inputs[n], None if o is None else made[o]) for n, o in self._effects_list]
        return self._build(made), written, gradients, walked

    def _grow(self, backward: Backward, inputs: list[Any], made: Any, again: Any) -> Any:
        n = len(backward.outputs)
        results = [
            t if t._base is None else t.detach() for t in made[self._count : self._count + n]
        ]
        saved = list(made[self._count + n :])
        own = {id(old): new for old, new in zip(made[self._count :], results, strict=False)}
        saved = [own.get(id(value), value) for value in saved]
        more = (
            functools.partial(self._grown_of, again) if self.repeats and again is not None else None
        )
        backward.attach(inputs, results, saved, more)
        return [own.get(id(value), value) for value in made[: self._count]]

    def _grown_of(self, again: Callable[[], Any]) -> list[Tensor]:
        """The results that want gradients, of the program itself."""
        with taeda.enable_grad():
            return self.grown_in(again())

    def grown_in(self, result: Any) -> list[Tensor]:
        """Those among the tensors of a result of the program itself, in the order of the node's outputs."""
        found = list(tensors_in(result))
        return [found[place] for place in self.grown_places]

    def rehearse(self, tensors: list[Tensor]) -> Any:
        """(results, contents of the inputs it wrote, gradients), with nothing changed; `missed` as above."""
        inputs = self.inputs(tensors)
        if inputs is None:
            return missed
        stand_ins = [_twin(t) if isinstance(t, Tensor) else t for t in inputs]
        made = self.program.run(tuple(stand_ins))
        if made is NotImplemented:
            return missed
        written = [(inputs[n], stand_ins[n]) for n in self.writes]
        gradients = [(inputs[n], None if o is None else made[o]) for n, o in self._effects_list]
        walked = None if self.backward is None else self._walk(self.backward, made)
        return self._build(made), written, gradients, walked

    def _walk(self, backward: Backward, made: Any) -> Any:
        """(gradients of results, gradients of inputs) by each backward program, from random numbers."""
        n = len(backward.outputs)
        results, saved = made[self._count : self._count + n], list(made[self._count + n :])
        plain = [without_history(v) for v in saved]
        own = taeda.Generator().manual_seed(0)
        walks = []
        for expanded in (False, True):
            tangents = [_tangent(r, own, expanded) for r in results]
            walks.append((tangents, backward.gradients(plain, tangents)))
        return walks


def _walked(results: list[Tensor], wanted: list[Tensor], expanded: bool) -> Any:
    """(random gradients of results, the gradients of `wanted` that autograd gives for them)."""
    own = taeda.Generator().manual_seed(0)
    tangents = [_tangent(r.detach(), own, expanded) for r in results]
    found = taeda.autograd.grad(results, wanted, tangents, retain_graph=True, allow_unused=True)
    return tangents, found


def _tangent(result: Tensor, own: Any, expanded: bool) -> Tensor:
    if expanded:
        return taeda.randn((), generator=own, dtype=result.dtype).expand(result.shape)
    made = taeda.empty_strided(result.shape, result.stride(), dtype=result.dtype)
    return made.copy_(taeda.randn(result.shape, generator=own, dtype=result.dtype))


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors of a result, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from tensors_in(entry)
    elif type(value) is dict:
        for entry in value.values():
            yield from tensors_in(entry)


def _program(
    graph: Graph, inputs: list[int], steps: list[Step], outputs: list[int], *, fuse: bool,
    saved: bool = False,
) -> Any:  # fmt: skip
    """A core program of steps: slots are numbered anew, the inputs first. `saved`: inputs are what a node saved."""
    number = {slot: n for n, slot in enumerate(inputs)}
    for step in steps:
        for slot in (*step.reads, *(s for s in step.outs if s is not None)):
            number.setdefault(slot, len(number))
    examples = tuple(_example(graph, slot) for slot in inputs)
    if saved:
        examples = tuple(map(without_history, examples))
    joins = [fuse and may_wait(graph, step) for step in steps]
    moved = [step.numbered(number) for step in steps]
    wanted = [number[slot] for slot in outputs]
    return _core.Program(_encoded(moved, wanted, joins), len(number), examples, tuple(wanted))


def _example(graph: Graph, slot: int) -> Any:
    if slot < len(graph.inputs):
        return graph.inputs[slot].example
    return graph.examples[slot]


def _twin(tensor: Tensor) -> Tensor:
    """A tensor of the same layout, type and values, whose memory is its own."""
    plain = tensor.detach()
    small = plain  # an expanded dimension is one element in memory
    for dim, step in enumerate(plain.stride()):
        if step == 0 and plain.shape[dim] > 1:
            small = small.narrow(dim, 0, 1)
    made = taeda.empty_strided(small.shape, plain.stride(), dtype=plain.dtype, device=plain.device)
    made = made.copy_(small).expand(plain.shape)
    if type(tensor) is not Tensor:
        made = type(tensor)(made, requires_grad=tensor.requires_grad)
    elif tensor.grad_fn is not None:  # computed: nobody walks behind it
        runtime.set_history(_Spent(made).node, 0, made)
    elif tensor.requires_grad:
        made.requires_grad_()
    return made


def _builder(spec: Any) -> Callable[[tuple[Any, ...]], Any]:
    """What makes the result of the outputs."""
    kind, rest = spec[0], spec[1]
    if kind == "slot":
        return lambda made: made[rest]
    if kind == "consumed":
        spent = spec[2]

        def found(made: tuple[Any, ...]) -> Any:
            runtime.set_history(spent.node, 0, made[rest])
            return made[rest]

        return found
    if kind == "grown":
        return lambda made: made[rest]
    if kind == "value":
        return lambda made: rest
    if kind is dict:
        parts = {k: _builder(v) for k, v in rest.items()}
        return lambda made: {k: part(made) for k, part in parts.items()}
    if kind == "named":
        fields = [_builder(v) for v in spec[2]]
        return lambda made: rest(*(part(made) for part in fields))
    entries = [_builder(v) for v in rest]
    return lambda made: kind(part(made) for part in entries)


# ---- steps ----


def _written(step: Step) -> tuple[int, ...]:
    """Slots whose memory a step writes."""
    if step.targets:
        return step.targets
    if not step.is_effect:
        return ()
    return tuple(slot for _, _, slot in step.patches)  # a row that mutates: any of its tensors


def _written_inputs(graph: Graph, steps: list[Step]) -> list[int]:
    """Inputs whose memory is written, through a view of them as well."""
    slots = {slot for step in steps for slot in _written(step)}
    memory = {graph.layouts[slot].memory for slot in slots & graph.layouts.keys()}
    found = {
        n
        for n in range(len(graph.inputs))
        if n in graph.layouts and graph.layouts[n].memory in memory
    }
    return sorted(found | {slot for slot in slots if slot < len(graph.inputs)})


def _encoded(steps: list[Step], outputs: list[int], joins: list[bool]) -> tuple[Any, ...]:
    last: dict[int, int] = {}
    for n, step in enumerate(steps):
        for slot in (*step.reads, *(s for s in step.outs if s is not None)):
            last[slot] = n
    ends: dict[int, list[int]] = {}
    for slot, n in last.items():
        if slot not in outputs:
            ends.setdefault(n, []).append(slot)
    return tuple(
        (
            step.op, step.form, step.args, step.patches, tuple(-1 if s is None else s for s in step.outs),
            step.targets if step.form != WRITES_SELF else (), tuple(ends.get(n, ())), joins[n],
        )
        for n, step in enumerate(steps)
    )  # fmt: skip
