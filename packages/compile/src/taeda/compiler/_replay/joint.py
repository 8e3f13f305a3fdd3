"""Results that take part in a graph for backward: the backward of a captured program is a program as well.

When a recorded run gives such results, they are differentiated at once, while the recorder still
listens, with gradients that stand for those to come. What the steps of that walk read of the
forward run is saved by a node of autograd: one for the whole program, or one for each group of
results where some are computed from others (`groups`).

    forward:   inputs ─▶ results, saved values          one node: edges to the inputs that want gradients
    backward:  saved values, gradients of the results ─▶ gradients of the inputs

Gradients come in any layout, and those of the inputs have the strides that follow from it. The walk
is recorded in three: as the results are, expanded from one number, as sum() and mean() give them,
and with the dimensions of each result the other way round. If all of them did the same steps, one
program is for every layout. Else each has its own, and with another layout the program itself is
differentiated; where that cannot run again, the gradient is copied into the layout of the result.

The walks end at the inputs, also where one input was computed from another: what lies between them
is not of the program. Where an input gets the sum of several gradients, each walk is recorded once
more, without the sums. The engine may hold a gradient from elsewhere to which those of the program
are to be added, one by one as the program itself would add them: then the second one runs.

Not every result need have a gradient: who returns (logits, loss) walks back from the loss alone,
and what only the logits read has no gradient then, which is not the same as zeros. Such a choice of
results has programs of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime

from .._control._part import generators_of
from .._graph.passes import shortened
from .._graph.recorder import Recorder
from .._graph.steps import Graph, Step
from .ends import adds_gradients, arrived
from .groups import Group, groups
from .node import Context, empty_like_result

__all__ = [
    "MOST_RESULTS", "Backward", "Backwards", "Joint", "dense", "differentiated", "expanded", "turned",
]  # fmt: skip

MOST_RESULTS = 16  # with gradients: each has a backward program of its own
EVERY_CHOICE = 3  # up to so many results, so has every choice among them
Choice = tuple[bool, ...]  # which results have a gradient


@dataclass
class Walk:
    """One recorded backward: which results it began at, where its steps begin and end, the
    gradients it began with, those it found.
    """

    chosen: Choice
    make: Callable[[Tensor], Tensor]  # a gradient of a result, of ones
    first: int
    end: int  # not where the next one begins: a walk between them may have been left out
    tangents: list[Tensor]
    found: list[Tensor]
    places: list[int]  # for which wanted tensor each of them is
    apart: bool  # what came for one is not summed


@dataclass
class Joint:
    """What a group of results was differentiated by."""

    places: list[int]  # of its results, among all that want gradients
    earlier: list[int]  # places of results at which its walks end
    wanted: list[Tensor]  # the inputs at which they end
    walks: list[Walk]
    nodes: list[frozenset[int]]  # of each result: the nodes behind it, by number


def differentiated(
    recorder: Recorder, results: list[Tensor], *, chained: bool
) -> list[Joint] | None:
    """Walk backward from the results, group by group, with the recorder at work; None if that is not
    what the program does. Not `chained`: all results are one group.
    """
    wanted = [t for t, _, requires_grad in recorder.before if requires_grad]
    found = groups(results, wanted) if chained else [Group(list(range(len(results))))]
    if found is None:
        return None
    if len(found) == 1:
        return [_joint(recorder, results, found[0], wanted)]
    made = []
    for group in found:
        reached = [t for t in wanted if _edge_of(t) in group.into]
        made.append(_joint(recorder, results, group, reached))
    return made


def _edge_of(tensor: Tensor) -> tuple[int, int]:
    node, number = runtime.gradient_edge(tensor)
    return id(node), number


def _joint(recorder: Recorder, every: list[Tensor], group: Group, inputs: list[Tensor]) -> Joint:
    """Walk from the results of a group, from all of them and from some."""
    results, earlier = [every[n] for n in group.places], [every[n] for n in group.earlier]
    wanted = [*inputs, *earlier]
    walks: list[Walk] = []
    sums = adds_gradients(results, wanted)
    for (chosen, make), apart in product(list(_ways(results)), (False, True) if sums else (False,)):
        recorder.active = False
        start = [r for r, one in zip(results, chosen, strict=True) if one]
        tangents = [make(r) for r in start]
        recorder.active = True
        for tangent in tangents:
            recorder.add_input("tangent", None, tangent)
        first = len(recorder.graph.steps)
        recorder.walking, recorder.unlike = True, ""
        try:
            came = arrived(start, wanted, tangents, apart)
        finally:
            recorder.walking = False
        if recorder.unlike and recorder.active:
            if walks:
                continue  # autograd itself walks with gradients of that layout
            recorder.refuse(f"cond: {recorder.unlike}")
        places = [place for place, some in enumerate(came) for _ in some]
        found = [gradient for some in came for gradient in some]
        for gradient in found:
            if recorder.active:
                recorder.slot_of(gradient)  # a view that nobody recorded is a step of this walk
        end = len(recorder.graph.steps)
        walks.append(Walk(chosen, make, first, end, tangents, found, places, apart))
        if not recorder.active:
            break
    nodes = _nodes_behind(recorder, results, earlier)
    return Joint(group.places, group.earlier, inputs, walks, nodes)


def _nodes_behind(
    recorder: Recorder, results: list[Tensor], earlier: list[Tensor]
) -> list[frozenset[int]]:
    """The nodes that a backward of each result goes through, up to the inputs and earlier results."""
    ends = {id(node) for _, node, _ in recorder.before} | {id(t.grad_fn) for t in earlier}
    found = []
    for result in results:
        seen: dict[int, Any] = {}
        waiting = [result.grad_fn]
        while waiting:
            node = waiting.pop()
            if node is not None and id(node) not in seen and id(node) not in ends:
                seen[id(node)] = node
                waiting += [following for following, _ in node.next_functions]
        found.append(frozenset(n for n, v in seen.items() if v.next_functions))
    return found


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
    made = empty_like_result(result.shape, result.dtype, result.stride(), result.device)
    return made.fill_(1)


def expanded(result: Tensor) -> Tensor:
    """Ones that are one number."""
    return taeda.ones((), dtype=result.dtype, device=result.device).expand(result.shape)


def turned(result: Tensor) -> Tensor:
    """Ones with the dimensions of a result in memory the other way round; of one dimension, every
    other number of a row.
    """
    kind: dict[str, Any] = {"dtype": result.dtype, "device": result.device}
    if result.dim() == 1:
        return taeda.ones(2 * len(result), **kind)[::2]
    order = sorted(range(result.dim()), key=lambda d: (result.stride(d), -d))  # innermost first
    places = [order.index(d) for d in range(result.dim())]
    return taeda.ones([result.shape[d] for d in order], **kind).permute(places)


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
        return steps, named(self.slots), self.walk.places


class Backward:
    """The backward programs of one group of results, and what they read of its forward run."""

    def __init__(
        self, graph: Graph, joint: Joint, number: Callable[[Tensor], int], encode: Encode
    ) -> None:
        self.places, self.earlier = joint.places, joint.earlier
        self.inputs = [number(t) for t in joint.wanted]  # numbers of inputs
        walks = [_walked(graph, walk, number) for walk in joint.walks]
        self.saved = _read(walks)  # slots: of inputs, and of what the forward run made
        # what a backward of each result uses up: nothing, if it reads nothing
        self.uses = [
            nodes if _read_for(walks, place) else frozenset[int]()
            for place, nodes in enumerate(joint.nodes)
        ]
        every = walks[0].walk.chosen
        full = [w for w in walks if w.walk.chosen == every and not w.walk.apart]
        # how the results of a branch or of a kernel of the program lie is known for what was recorded
        of_program = any(step.parts or step.is_custom for w in full for step in w.steps)
        alike = len(full) > 1 and all(w.said() == full[0].said() for w in full)
        self.any_layout = alike and not of_program
        self.generators = [a for w in walks for a in generators_of(w.steps)]
        # by the choice and whether sums are apart: programs, for which input each result is
        self.programs: dict[tuple[Choice, bool], list[tuple[Any, list[int]]]] = {}
        self.makes: list[tuple[Choice, bool, Callable[[Tensor], Tensor]]] = []  # what was recorded
        for w in walks:
            self._add(graph, w, encode)
        count = len(self.inputs) + len(self.earlier)
        counts = [max(w.walk.places.count(n) for w in walks) for n in range(count)]
        self.counts = [max(1, count) for count in counts]  # edges of each place
        self.edges = [n for n, count in enumerate(self.counts) for _ in range(count)]
        self.shared = [e for e, n in enumerate(self.edges) if self.counts[n] > 1]

    def _add(self, graph: Graph, w: _Walked, encode: Encode) -> None:
        chosen, apart = w.walk.chosen, w.walk.apart
        self.makes.append((chosen, apart, w.walk.make))
        if self.any_layout and (chosen, apart) in self.programs:
            return
        program = encode(
            graph,
            [*self.saved, *w.tangents],
            w.steps,
            w.slots,
            tangents=len(w.tangents),
            any_layout=self.any_layout,
        )
        self.programs.setdefault((chosen, apart), []).append((program, w.walk.places))

    def ends(self, inputs: list[Any], results: list[Tensor]) -> list[Tensor]:
        """Where its gradients end, given all results that want gradients."""
        return [*(inputs[n] for n in self.inputs), *(results[place] for place in self.earlier)]

    def own(self, results: list[Tensor]) -> list[Tensor]:
        """Its results, of all that want gradients."""
        return [results[place] for place in self.places]

    def attach(
        self,
        inputs: list[Any],
        results: list[Tensor],
        saved: list[Any],
        again: Callable[[], Any] | None,
    ) -> None:
        """Give its results a node that differentiates the program; those before have theirs."""
        context = Context(self, inputs, results, again)
        ends = self.ends(inputs, results)
        own = self.own(results)
        node = runtime.python_node(context, tuple(ends[n] for n in self.edges), len(own))
        context.start(node, own, saved)

    def found(
        self, saved: list[Any], chosen: Choice, tangents: list[Tensor], apart: bool
    ) -> list[list[Tensor]] | None:
        """What comes for each wanted input: its sum, or what would be summed; None where no program
        is for the layout of the `tangents`, which are the gradients of the chosen results.
        """
        for program, places in self.programs.get((chosen, apart), ()):
            made = program.run((*saved, *tangents))
            if made is not NotImplemented:
                came: list[list[Tensor]] = [[] for _ in (*self.inputs, *self.earlier)]
                for place, gradient in zip(places, map(without_history, made), strict=True):
                    came[place].append(gradient)
                return came
        return None

    def each(
        self, saved: list[Any], chosen: Choice, tangents: list[Tensor]
    ) -> list[list[Tensor]] | None:
        """The same of results whose choice was not recorded: what each of them gives by itself."""
        total: list[list[Tensor]] = [[] for _ in (*self.inputs, *self.earlier)]
        places = [place for place, one in enumerate(chosen) if one]
        for place, tangent in zip(places, tangents, strict=True):
            came = self.found(saved, _alone(place, len(chosen)), [tangent], False)
            if came is None:
                return None
            for before, more in zip(total, came, strict=True):
                before.extend(more)
        return total


class Backwards:
    """The backward programs of one trace, of one group of results after another."""

    def __init__(
        self,
        graph: Graph,
        joints: list[Joint],
        results: list[Tensor],
        number: Callable[[Tensor], int],
        encode: Encode,
    ) -> None:
        self.outputs = [number(t) for t in results]  # slots
        self.groups = [Backward(graph, joint, number, encode) for joint in joints]
        self.saved = list(dict.fromkeys(slot for group in self.groups for slot in group.saved))
        self._saved = [[self.saved.index(slot) for slot in group.saved] for group in self.groups]
        self.inputs = sorted({n for group in self.groups for n in group.inputs})
        self.generators = [a for group in self.groups for a in group.generators]
        self.steps = joints[0].walks[0].first  # of the forward run

    def saved_by(self, values: list[Any]) -> list[list[Any]]:
        """What each group keeps, of all that is saved."""
        return [[values[n] for n in places] for places in self._saved]

    def attach(
        self,
        inputs: list[Any],
        results: list[Tensor],
        saved: list[Any],
        again: Callable[[], Any] | None,
    ) -> None:
        """Give the results their nodes."""
        for group, kept in zip(self.groups, self.saved_by(saved), strict=True):
            group.attach(inputs, results, kept, again)


def _walked(graph: Graph, walk: Walk, number: Callable[[Tensor], int]) -> _Walked:
    found = [number(g) for g in walk.found]
    part = Graph(graph.inputs, graph.steps[walk.first : walk.end], graph.slots, graph.layouts)
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


def _read_for(walks: list[_Walked], place: int) -> list[int]:
    """The slots that walks read which begin at one result; those of all if none was recorded."""
    alone = [w for w in walks if w.walk.chosen == _alone(place, len(w.walk.chosen))]
    return _read(alone or walks)


def without_history(value: Any) -> Any:
    """A gradient that is a saved value, without what computed that."""
    return value.detach() if value.requires_grad else value
