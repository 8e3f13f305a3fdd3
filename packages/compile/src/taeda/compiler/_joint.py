"""Results that take part in a graph for backward: the backward of a captured program is a program as well.

When a recorded run gives such results, they are differentiated at once, while the recorder still listens, with gradients that stand for those to come. What
the steps of that walk read of the forward run is saved by a node of autograd, one for the whole program.

    forward:   inputs ─▶ results, saved values          one node: edges to the inputs that want gradients
    backward:  saved values, gradients of the results ─▶ gradients of the inputs

Gradients come in two layouts: as the results are, and expanded from one number, as sum() and mean() give them. Each has a program; one of another layout
is copied into that of the result.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime

from ._passes import shortened
from ._record import Graph, Recorder, Step

__all__ = ["Backward", "Joint", "differentiated", "without_history"]


@dataclass
class Walk:
    """One recorded backward: where its steps begin, the gradients it began with, those it found."""

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
    """Walk backward from the results, twice, with the recorder at work."""
    wanted = [t for t, _, requires_grad in recorder.before if requires_grad]
    walks = []
    for make in (_dense, _expanded):
        recorder.active = False
        tangents = [make(r) for r in results]
        recorder.active = True
        for tangent in tangents:
            recorder.add_input("tangent", None, tangent)
        first = len(recorder.graph.steps)
        found = taeda.autograd.grad(results, wanted, tangents, retain_graph=True, allow_unused=True)
        for gradient in found:
            if gradient is not None and recorder.active:
                recorder.slot_of(gradient)  # a view that nobody recorded is a step of this walk
        walks.append(Walk(first, tangents, list(found)))
        if not recorder.active or all(r.numel() == 1 for r in results):
            break
    return Joint(list(results), wanted, walks)


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
            walks.append((steps, slots, tangents, [s is not None for s in found]))
        self.saved = list(read)  # slots: of inputs, and of what the forward run made
        self.generators = [
            a
            for steps, *_ in walks
            for step in steps
            for a in step.args
            if isinstance(a, taeda.Generator)
        ]
        self.programs = [
            (encode(graph, [*self.saved, *tangents], steps, slots), given)
            for steps, slots, tangents, given in walks
        ]
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
        self, saved: list[Any], tangents: list[Tensor], layouts: list[Any] | None = None
    ) -> list[Tensor | None]:
        """The gradients of the wanted inputs; no program for these tangents: they are copied into `layouts`."""
        for program, given in self.programs:
            found = program.run((*saved, *tangents))
            if found is not NotImplemented:
                rest = iter(found)
                return [next(rest) if one else None for one in given]
        if layouts is not None:
            dense = [_in_layout(t, *layout) for t, layout in zip(tangents, layouts, strict=True)]
            return self.gradients(saved, dense)
        raise RuntimeError("a saved value is no longer what it was when it was saved")


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
        given = [_fitting(g, *layout) for g, layout in zip(gradients, self.layouts, strict=True)]
        if taeda.is_grad_enabled():
            return self._differentiable(given)
        plain = [without_history(v) for v in saved]
        return tuple(self.backward.gradients(plain, given, self.layouts))

    def _differentiable(self, gradients: list[Tensor]) -> tuple[Any, ...]:
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
        found = taeda.autograd.grad(
            self.again(), self.wanted, gradients, create_graph=True, allow_unused=True
        )
        return tuple(found)


def without_history(value: Any) -> Any:
    """A saved value as a backward program reads it."""
    computed = isinstance(value, Tensor) and value.requires_grad and not value.is_leaf
    return value.detach() if computed else value


def _fitting(gradient: Any, shape: Any, dtype: Any, strides: Any) -> Tensor:
    if gradient is None:
        return taeda.zeros((), dtype=dtype).expand(shape)
    made: Tensor = gradient.detach() if not taeda.is_grad_enabled() else gradient
    if made.stride() == strides or not any(made.stride()):
        return made
    return _in_layout(made, shape, dtype, strides)


def _in_layout(value: Tensor, shape: Any, dtype: Any, strides: Any) -> Tensor:
    return taeda.empty_strided(shape, strides, dtype=dtype).copy_(value)
