"""Results that take part in a graph for backward: the backward of a captured program is a program as well.

When a recorded run gives such results, they are differentiated at once, while the recorder still listens, with gradients that stand for those to come. What
the steps of that walk read of the forward run is saved by a node of autograd, one for the whole program.

    forward:   inputs ─▶ results, saved values          one node: edges to the inputs that want gradients
    backward:  saved values, gradients of the results ─▶ gradients of the inputs

Gradients come in two layouts: as the results are, and expanded from one number, as sum() and mean() give them. Each has a program; one of another layout
is copied into that of the result.

Not every result need have a gradient: who returns (logits, loss) walks back from the loss alone, and what only the logits read has no gradient then, which
is not the same as zeros. Such a choice of results has programs of its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime

from ._passes import shortened
from ._record import Graph, Recorder, Step

__all__ = ["MOST_RESULTS", "Backward", "Joint", "differentiated", "without_history"]

MOST_RESULTS = 16  # with gradients: each has a backward program of its own
EVERY_CHOICE = 3  # up to so many results, so has every choice among them
Choice = tuple[bool, ...]  # which results have a gradient


@dataclass
class Walk:
    """One recorded backward: which results it began at, where its steps begin, the gradients it began with, those it found."""

    chosen: Choice
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
        walks.append(Walk(chosen, first, tangents, list(found)))
        if not recorder.active:
            break
    return Joint(list(results), wanted, walks)


def _ways(results: list[Tensor]) -> Iterator[tuple[Choice, Callable[[Tensor], Tensor]]]:
    """(where to begin, what to begin with) for each walk."""
    count = len(results)
    every = (True,) * count
    yield every, _dense
    if any(r.numel() != 1 for r in results):
        yield every, _expanded
    if count <= EVERY_CHOICE:
        yield from ((c, _dense) for c in product((True, False), repeat=count) if 0 < sum(c) < count)
    else:
        yield from ((_alone(i, count), _dense) for i in range(count))


def _alone(place: int, count: int) -> Choice:
    return tuple(i == place for i in range(count))


def _dense(result: Tensor) -> Tensor:
    return taeda.ones_like(result.detach())


def _expanded(result: Tensor) -> Tensor:
    return taeda.ones((), dtype=result.dtype).expand(result.shape)


Encode = Callable[[Graph, list[int], list[Step], list[int]], Any]


class Backward:
    """The backward programs of one trace, and what they read of its forward run."""

    def __init__(
        self, graph: Graph, joint: Joint, number: Callable[[Tensor], int], encode: Encode
    ) -> None:
        self.outputs = [number(t) for t in joint.outputs]  # slots
        self.wanted = [number(t) for t in joint.wanted]  # numbers of inputs
        ends = [walk.first for walk in joint.walks[1:]] + [len(graph.steps)]
        walks = []
        read: dict[int, None] = {}
        for walk, end in zip(joint.walks, ends, strict=True):
            found = [None if g is None else number(g) for g in walk.found]
            steps, slots = shortened(
                Graph(graph.inputs, graph.steps[walk.first : end], graph.slots, graph.layouts),
                [s for s in found if s is not None],
            )
            tangents = [number(t) for t in walk.tangents]
            made = {s for step in steps for s in step.outs} | set(tangents)
            for slot in [s for step in steps for s in step.reads] + slots:
                if slot not in made:
                    read.setdefault(slot)
            walks.append((walk.chosen, steps, slots, tangents, [s is not None for s in found]))
        self.saved = list(read)  # slots: of inputs, and of what the forward run made
        self.generators = [
            a
            for _, steps, *_ in walks
            for step in steps
            for a in step.args
            if isinstance(a, taeda.Generator)
        ]
        self.programs: dict[Choice, list[tuple[Any, list[bool]]]] = {}
        for chosen, steps, slots, tangents, given in walks:
            program = encode(graph, [*self.saved, *tangents], steps, slots)
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
        layouts: list[Any] | None = None,
    ) -> list[Tensor | None]:
        """The gradients of the wanted inputs, None where the chosen results do not read one.

        `tangents` are the gradients of the chosen results. Where no program is for their layout, they are copied into `layouts`.
        """
        if chosen not in self.programs:
            return self._summed(saved, chosen, tangents, layouts)
        for program, given in self.programs[chosen]:
            found = program.run((*saved, *tangents))
            if found is not NotImplemented:
                rest = iter(found)
                return [next(rest) if one else None for one in given]
        if layouts is not None:
            dense = [_in_layout(t, *layout) for t, layout in zip(tangents, layouts, strict=True)]
            return self.gradients(saved, chosen, dense)
        raise RuntimeError("a saved value is no longer what it was when it was saved")

    def _summed(
        self, saved: list[Any], chosen: Choice, tangents: list[Tensor], layouts: list[Any] | None
    ) -> list[Tensor | None]:
        """The gradients of some of many results: the sums of what each gives by itself."""
        total: list[Tensor | None] = [None] * len(self.wanted)
        places = [place for place, one in enumerate(chosen) if one]
        for n, (place, tangent) in enumerate(zip(places, tangents, strict=True)):
            layout = None if layouts is None else [layouts[n]]
            found = self.gradients(saved, _alone(place, len(chosen)), [tangent], layout)
            for i, gradient in enumerate(found):
                before = total[i]
                if gradient is not None:
                    total[i] = gradient if before is None else before + gradient
        return total


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
                "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
                "been freed). Specify retain_graph=True if you need to backward through the graph a second time."
            )
        node = self.node()
        saved = [v if isinstance(v, float) else runtime.unpack_saved(node, v) for v in self.saved]
        chosen = tuple(g is not None for g in gradients)
        layouts = [layout for layout, one in zip(self.layouts, chosen, strict=True) if one]
        there = (g for g in gradients if g is not None)
        given = [_fitting(g, *layout) for g, layout in zip(there, layouts, strict=True)]
        if taeda.is_grad_enabled():
            return self._differentiable(chosen, given)
        plain = [without_history(v) for v in saved]
        return tuple(self.backward.gradients(plain, chosen, given, layouts))

    def _differentiable(self, chosen: Choice, gradients: list[Tensor]) -> tuple[Any, ...]:
        """With create_graph the program itself runs again, as Python."""
        if self.again is None:
            raise RuntimeError(
                "the gradient of a compiled program cannot be differentiated once more if the program draws numbers or writes to its "
                "inputs: call what taeda.compiler.disable gives for it"
            )
        if any(t._version != version for t, version in self.versions):
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation since the compiled "
                "program read it"
            )
        start = [r for r, one in zip(self.again(), chosen, strict=True) if one]
        found = taeda.autograd.grad(
            start, self.wanted, gradients, create_graph=True, allow_unused=True
        )
        return tuple(found)


def without_history(value: Any) -> Any:
    """A saved value as a backward program reads it."""
    computed = isinstance(value, Tensor) and value.requires_grad and not value.is_leaf
    return value.detach() if computed else value


def _fitting(gradient: Tensor, shape: Any, dtype: Any, strides: Any) -> Tensor:
    made: Tensor = gradient.detach() if not taeda.is_grad_enabled() else gradient
    if made.stride() == strides or not any(made.stride()):
        return made
    return _in_layout(made, shape, dtype, strides)


def _in_layout(value: Tensor, shape: Any, dtype: Any, strides: Any) -> Tensor:
    return taeda.empty_strided(shape, strides, dtype=dtype).copy_(value)
