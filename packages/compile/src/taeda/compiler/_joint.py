"""Results that take part in a graph for backward: the backward of a captured program is a program as well.

When a recorded run gives such results, they are differentiated at once, while the recorder still
listens, with gradients that stand for those to come. What the steps of that walk read of the
forward run is saved by a node of autograd, one for the whole program.

    forward:   inputs ─▶ results, saved values          one node: edges to the inputs that want gradients
    backward:  saved values, gradients of the results ─▶ gradients of the inputs

Gradients come in any layout, and those of the inputs have the strides that follow from it. The walk
is recorded in three: as the results are, expanded from one number, as sum() and mean() give them,
and transposed. If all of them did the same steps, one program is for every layout. Else each has
its own, and with another layout the program itself is differentiated; where that cannot run again,
the gradient is copied into the layout of the result.

Not every result need have a gradient: who returns (logits, loss) walks back from the loss alone,
and what only the logits read has no gradient then, which is not the same as zeros. Such a choice of
results has programs of its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime

from ._control._part import generators_of
from ._passes import shortened
from ._record import Graph, Recorder, Step

__all__ = ["MOST_RESULTS", "Backward", "Joint", "dense", "differentiated", "expanded", "turned"]

MOST_RESULTS = 16  # with gradients: each has a backward program of its own
EVERY_CHOICE = 3  # up to so many results, so has every choice among them
Choice = tuple[bool, ...]  # which results have a gradient


@dataclass
class Walk:
    """One recorded backward: which results it began at, where its steps begin, the gradients it
    began with, those it found.
    """

    chosen: Choice
    make: Callable[[Tensor], Tensor]  # a gradient of a result, of ones
    first: int
    tangents: list[Tensor]
    found: list[Tensor | None]


@dataclass
class Joint:
    """What a recorded run was differentiated by."""

    outputs: list[Tensor]
    wanted: list[Tensor]
    walks: list[Walk]


def differentiated(recorder: Recorder, results: list[Tensor]) -> Joint:
    """Walk backward from the results, from all of them and from some, with the recorder at work."""
    wanted = [t for t, _, requires_grad in recorder.before if requires_grad]
    walks = []
    for chosen, make in _ways(results):
        recorder.active = False
        start = [r for r, one in zip(results, chosen, strict=True) if one]
        tangents = [make(r) for r in start]
        recorder.active = True
        for tangent in tangents:
            recorder.add_input("tangent", None, tangent)
        first = len(recorder.graph.steps)
        found = taeda.autograd.grad(start, wanted, tangents, retain_graph=True, allow_unused=True)
        for gradient in found:
            if gradient is not None and recorder.active:
                recorder.slot_of(gradient)  # a view that nobody recorded is a step of this walk
        walks.append(Walk(chosen, make, first, tangents, list(found)))
        if not recorder.active:
            break
    return Joint(list(results), wanted, walks)


def _ways(results: list[Tensor]) -> Iterator[tuple[Choice, Callable[[Tensor], Tensor]]]:
    """(where to begin, what to begin with) for each walk."""
    count = len(results)
    every = (True,) * count
    yield every, dense
    if any(r.numel() != 1 for r in results):
        yield every, expanded
        yield every, turned
    if count <= EVERY_CHOICE:
        yield from ((c, dense) for c in product((True, False), repeat=count) if 0 < sum(c) < count)
    else:
        yield from ((_alone(i, count), dense) for i in range(count))


def _alone(place: int, count: int) -> Choice:
    return tuple(i == place for i in range(count))


def dense(result: Tensor) -> Tensor:
    """Ones, laid out as a result."""
    return _empty(result.shape, result.dtype, result.stride()).fill_(1)


def expanded(result: Tensor) -> Tensor:
    """Ones that are one number."""
    return taeda.ones((), dtype=result.dtype).expand(result.shape)


def turned(result: Tensor) -> Tensor:
    """Ones in the opposite order of dimensions; of one dimension, every other number of a row."""
    if result.dim() == 1:
        return taeda.ones(2 * len(result), dtype=result.dtype)[::2]
    shape = tuple(result.shape)[::-1]
    return taeda.ones(shape, dtype=result.dtype).permute(*range(result.dim() - 1, -1, -1))


Encode = Callable[..., Any]


@dataclass
class _Walked:
    """The steps of one walk that are left, the slots of the gradients it began with and of those it found."""

    walk: Walk
    steps: list[Step]
    slots: list[int]
    tangents: list[int]

    def said(self) -> Any:
        """What the steps do: equal for walks that do the same."""
        names: dict[int, Any] = {slot: ("tangent", n) for n, slot in enumerate(self.tangents)}
        for slot in (s for step in self.steps for s in step.outs if s is not None):
            names[slot] = ("made", len(names))

        def named(slots: Iterable[int | None]) -> tuple[Any, ...]:
            return tuple(s if s is None else names.get(s, s) for s in slots)

        steps = [
            (s.op, s.form, repr(s.args), tuple((k, i, *named([slot])) for k, i, slot in s.patches),
             named(s.outs), named(s.targets), [part.said() for part in s.parts])
            for s in self.steps
        ]  # fmt: skip
        return steps, named(self.slots), [g is not None for g in self.walk.found]


class Backward:
    """The backward programs of one trace, and what they read of its forward run."""

    def __init__(
        self, graph: Graph, joint: Joint, number: Callable[[Tensor], int], encode: Encode
    ) -> None:
        self.outputs = [number(t) for t in joint.outputs]  # slots
        self.wanted = [number(t) for t in joint.wanted]  # numbers of inputs
        ends = [walk.first for walk in joint.walks[1:]] + [len(graph.steps)]
        walks = [
            _walked(graph, walk, end, number) for walk, end in zip(joint.walks, ends, strict=True)
        ]
        self.saved = _read(walks)  # slots: of inputs, and of what the forward run made
        every = walks[0].walk.chosen
        full = [w for w in walks if w.walk.chosen == every]
        self.any_layout = len(full) > 1 and all(w.said() == full[0].said() for w in full)
        self.generators = [a for w in walks for a in generators_of(w.steps)]
        self.programs: dict[Choice, list[tuple[Any, list[bool]]]] = {}
        self.makes: dict[Choice, list[Callable[[Tensor], Tensor]]] = {}  # what was recorded
        for w in walks:
            chosen, more = (
                w.walk.chosen,
                {"tangents": len(w.tangents), "any_layout": self.any_layout},
            )
            self.makes.setdefault(chosen, []).append(w.walk.make)
            if self.any_layout and chosen in self.programs:
                continue
            program = encode(graph, [*self.saved, *w.tangents], w.steps, w.slots, **more)
            given = [g is not None for g in w.walk.found]
            self.programs.setdefault(chosen, []).append((program, given))
        self.steps = joint.walks[0].first

    def attach(
        self,
        inputs: list[Any],
        results: list[Tensor],
        saved: list[Any],
        again: Callable[[], Any] | None,
    ) -> None:
        """Give the results a node that differentiates the program."""
        context = _Context(self, inputs, again)
        wanted = [inputs[n] for n in self.wanted]
        node = runtime.python_node(context, tuple(wanted), len(results))
        context.node = weakref.ref(node)
        for number, result in enumerate(results):
            runtime.set_history(node, number, result)
        own = {id(r) for r in results}
        context.saved = [
            runtime.save_for_node(value, id(value) in own) if isinstance(value, Tensor) else value
            for value in saved
        ]
        context.layouts = [(r.shape, r.dtype, r.stride()) for r in results]

    def gradients(
        self,
        saved: list[Any],
        chosen: Choice,
        tangents: list[Tensor],
        otherwise: Callable[[Choice, list[Tensor]], list[Tensor | None]] | None = None,
    ) -> list[Tensor | None]:
        """The gradients of the wanted inputs, None where the chosen results do not read one.

        `tangents` are the gradients of the chosen results. Where no program is for their layout,
        `otherwise` says the gradients.
        """
        if chosen not in self.programs:
            return self._summed(saved, chosen, tangents, otherwise)
        for program, given in self.programs[chosen]:
            found = program.run((*saved, *tangents))
            if found is not NotImplemented:
                rest = map(without_history, found)
                return [next(rest) if one else None for one in given]
        if otherwise is not None:
            return otherwise(chosen, tangents)
        raise RuntimeError("a saved value is no longer what it was when it was saved")

    def _summed(
        self, saved: list[Any], chosen: Choice, tangents: list[Tensor], otherwise: Any
    ) -> list[Tensor | None]:
        """The gradients of some of many results: the sums of what each gives by itself."""
        total: list[Tensor | None] = [None] * len(self.wanted)
        places = [place for place, one in enumerate(chosen) if one]
        for place, tangent in zip(places, tangents, strict=True):
            found = self.gradients(saved, _alone(place, len(chosen)), [tangent], otherwise)
            for i, gradient in enumerate(found):
                before = total[i]
                if gradient is not None:
                    total[i] = gradient if before is None else before + gradient
        return total


def _walked(graph: Graph, walk: Walk, end: int, number: Callable[[Tensor], int]) -> _Walked:
    found = [number(g) for g in walk.found if g is not None]
    part = Graph(graph.inputs, graph.steps[walk.first : end], graph.slots, graph.layouts)
    return _Walked(walk, *shortened(part, found), [number(t) for t in walk.tangents])


def _read(walks: list[_Walked]) -> list[int]:
    """What walks read that they did not make."""
    found: dict[int, None] = {}
    for w in walks:
        made = {s for step in w.steps for s in step.outs} | set(w.tangents)
        for slot in [s for step in w.steps for s in step.reads] + w.slots:
            if slot not in made:
                found.setdefault(slot)
    return list(found)


class _Context:
    """What the node of one run is asked by the engine."""

    node: Any
    saved: list[Any]
    layouts: list[Any]

    def __init__(
        self, backward: Backward, inputs: list[Any], again: Callable[[], Any] | None
    ) -> None:
        self.backward, self.again = backward, again
        self.freed = False
        tensors = [t for t in inputs if isinstance(t, Tensor)] if again is not None else []
        self.versions = [(t, t._version) for t in tensors]
        self.wanted = [inputs[n] for n in backward.wanted]

    def _name(self) -> str:
        return "CompiledBackward"

    def _release(self) -> None:
        self.saved, self.freed, self.again, self.versions = [], True, None, []

    def _run_backward(self, *gradients: Any) -> tuple[Any, ...]:
        if self.freed:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved "
                "tensors after they have already "
                "been freed). Specify retain_graph=True if you need to backward through the graph "
                "a second time."
            )
        node = self.node()
        saved = [v if isinstance(v, float) else runtime.unpack_saved(node, v) for v in self.saved]
        chosen = tuple(g is not None for g in gradients)
        given = [g if taeda.is_grad_enabled() else g.detach() for g in gradients if g is not None]
        if taeda.is_grad_enabled():
            return self._differentiable(chosen, given)
        return tuple(self.backward.gradients(saved, chosen, given, self._of_layout))

    def _of_layout(self, chosen: Choice, tangents: list[Tensor]) -> list[Tensor | None]:
        """The gradients where no program is for the layout of these."""
        if self.again is not None and not self._is_written():
            with taeda.enable_grad():
                start = [r for r, one in zip(self.again(), chosen, strict=True) if one]
            return list(taeda.autograd.grad(start, self.wanted, tangents, allow_unused=True))
        node = self.node()
        saved = [v if isinstance(v, float) else runtime.unpack_saved(node, v) for v in self.saved]
        layouts = [layout for layout, one in zip(self.layouts, chosen, strict=True) if one]
        copied = [_in_layout(t, *layout) for t, layout in zip(tangents, layouts, strict=True)]
        return self.backward.gradients(saved, chosen, copied)

    def _is_written(self) -> bool:
        return any(t._version != version for t, version in self.versions)

    def _differentiable(self, chosen: Choice, gradients: list[Tensor]) -> tuple[Any, ...]:
        """With create_graph the program itself runs again, as Python."""
        if self.again is None:
            raise RuntimeError(
                "the gradient of a compiled program cannot be differentiated once more if the "
                "program draws numbers or writes to its "
                "inputs: call what taeda.compiler.disable gives for it"
            )
        if self._is_written():
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                "inplace operation since the compiled "
                "program read it"
            )
        start = [r for r, one in zip(self.again(), chosen, strict=True) if one]
        found = taeda.autograd.grad(
            start, self.wanted, gradients, create_graph=True, allow_unused=True
        )
        return tuple(found)


def without_history(value: Any) -> Any:
    """A gradient that is a saved value, without what computed that."""
    return value.detach() if value.requires_grad else value


def _in_layout(value: Tensor, shape: Any, dtype: Any, strides: Any) -> Tensor:
    return _empty(shape, dtype, strides).copy_(value)


def _empty(shape: Any, dtype: Any, strides: Any) -> Tensor:
    """Memory for a gradient of a result with these strides; one number for each place, where the
    result is expanded.
    """
    if any(size > 1 and step == 0 for size, step in zip(shape, strides, strict=True)):
        return taeda.empty(shape, dtype=dtype)
    return taeda.empty_strided(shape, strides, dtype=dtype)
