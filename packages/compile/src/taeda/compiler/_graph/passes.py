"""Steps of a graph that a run can do without, because of how the recording came about or because
nobody reads them.

an alias with the layout of its base        its readers read the base
a copy of a value that nobody else has      the value itself: an eager run would have moved it,
                                            but the recording held it
a step without effect or readers            nothing
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

import taeda

from .steps import DATA, GRADIENT, PLAIN, VIEW, Graph, Layout, Step, is_elementwise

__all__ = ["may_wait", "needed", "shortened", "without_aliases", "written_inputs"]

_ALIASES = ("detach", "alias", "as_strided")
_FLOATS = (taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16)


def shortened(graph: Graph, outputs: list[int]) -> tuple[list[Step], list[int]]:
    """(the steps that are left, the slots of the outputs)."""
    steps, moved = without_aliases(graph, outputs)
    outputs = [moved.get(slot, slot) for slot in outputs]
    steps, moved = _without_copies(graph, steps, outputs)
    outputs = [moved.get(slot, slot) for slot in outputs]
    return needed(steps, outputs), outputs


def needed(steps: list[Step], outputs: Iterable[int]) -> list[Step]:
    """Without those whose results nobody wants and that do nothing else."""
    wanted, kept = set(outputs), []
    for step in reversed(steps):
        if step.is_effect or step.may_fail or any(s in wanted for s in step.outs):
            kept.append(step)
            wanted.update(step.reads)
    return kept[::-1]


def without_aliases(
    graph: Graph, outputs: list[int], *, seen: Callable[[Step], bool] = lambda step: False
) -> tuple[list[Step], dict[int, int]]:
    """(the steps, whose readers of an alias read its base, the bases), but for those that are `seen`."""
    base: dict[int, int] = {}
    given = set(outputs)  # objects that somebody gets: no two of them may become one
    given.update(s for step in graph.steps if step.form == GRADIENT for s in step.targets)
    written = _versions_written(graph, graph.steps)
    made = {s for step in graph.steps if step.op not in _ALIASES for s in step.outs}
    kept = []
    for step in graph.steps:
        moved = step.renamed(base)
        out = moved.outs[0] if len(moved.outs) == 1 else None
        if out is None or seen(step) or not _is_alias(graph.layouts, moved, out, written):
            kept.append(moved)
            continue
        origin = moved.patches[0][2]
        if out in given and (origin in given or origin not in made or step.form == DATA):
            kept.append(moved)
            continue
        base[out] = origin
        if out in given:
            given.add(origin)
    return kept, base


def _is_alias(layouts: dict[int, Layout], step: Step, out: int, written: Collection[int]) -> bool:
    if step.op not in _ALIASES or step.form not in (PLAIN, VIEW, DATA) or len(step.patches) != 1:
        return False
    layout, origin = layouts[out], layouts[step.patches[0][2]]
    # nobody tells one version from the other
    if step.form == DATA and layout.version not in written:
        layout = replace(layout, version=origin.version)
    return layout == origin


def _without_copies(
    graph: Graph, steps: list[Step], outputs: list[int]
) -> tuple[list[Step], dict[int, int]]:
    """Where `a` is a copy of `b`, which nobody writes and which is never seen again, `a` is `b`."""
    moved: dict[int, int] = {}
    made = {s for step in steps for s in step.outs if s is not None}
    used = _uses(steps, outputs)
    memory: dict[int, set[int]] = {}
    for slot in used.keys() & graph.layouts.keys():  # a number has no memory
        memory.setdefault(graph.layouts[slot].memory, set()).add(slot)
    written = _versions_written(graph, steps)
    gone: set[int] = set()
    for n, step in enumerate(steps):
        if step.op != "clone" or step.form or len(step.patches) != 1 or step.outs[0] is None:
            continue
        a, b = step.outs[0], step.patches[0][2]
        origin = graph.layouts[b]
        alone = all(memory[graph.layouts[s].memory] == {s} for s in (a, b))
        if not alone or b not in made or origin.version in written or max(used[b]) != n:
            continue
        if graph.layouts[a].like(origin):
            gone.add(n)
            moved[a] = moved.get(b, b)
    left = [step.renamed(moved) for n, step in enumerate(steps) if n not in gone]
    return left, moved


def _versions_written(graph: Graph, steps: list[Step]) -> set[int]:
    slots = (s for step in steps for s in step.writes)
    return {graph.layouts[s].version for s in slots if s in graph.layouts}  # a number has none


def _uses(steps: list[Step], outputs: list[int]) -> dict[int, list[int]]:
    """The steps that read or write each slot; an output is read at the end."""
    found: dict[int, list[int]] = {}
    for n, step in enumerate(steps):
        for slot in step.reads:
            found.setdefault(slot, []).append(n)
        for out in step.outs:
            if out is not None:
                found.setdefault(out, [])
    for slot in outputs:
        found.setdefault(slot, []).append(len(steps))
    return found


def may_wait(graph: Graph, step: Step) -> bool:
    """Whether a step can be done tile by tile with its neighbours: elementwise, on floats of one
    dtype and bools.

    Others look at their operands before they compute (integers that divide), or convert them.
    """
    if step.form > 1 or not is_elementwise(step.op):
        return False
    if not all(slot in graph.layouts for slot in step.reads):
        return False
    read = [graph.layouts[slot] for slot in step.reads]
    if any(layout.bits != (False, False) for layout in read):
        return False
    if not all(layout.dtype in _FLOATS or layout.dtype == taeda.bool for layout in read):
        return False
    large = {layout.dtype for layout in read if layout.shape}
    return bool(large) and len(large - {taeda.bool}) <= 1


def written_inputs(graph: Graph, steps: list[Step]) -> list[int]:
    """Inputs whose memory is written, through a view of them as well."""
    slots = {slot for step in steps for slot in step.writes}
    memory = {graph.layouts[slot].memory for slot in slots & graph.layouts.keys()}
    found = {
        n
        for n in range(len(graph.inputs))
        if n in graph.layouts and graph.layouts[n].memory in memory
    }
    return sorted(found | {slot for slot in slots if slot < len(graph.inputs)})
