"""Steps as a program of core: slots numbered anew, inputs first, with the place where each one is
read last.
"""

from __future__ import annotations

from typing import Any

from taeda._core_api import programs as _core

from .._graph.passes import may_wait
from .._graph.steps import WRITES_SELF, Graph, Step
from .pieces import Chain

__all__ = ["program"]


def program(
    graph: Graph,
    inputs: list[int],
    steps: list[Step],
    outputs: list[int],
    *,
    fuse: bool,
    tangents: int | None = None,
    any_layout: bool = False,
) -> Any:
    """A core program of steps: slots are numbered anew, the inputs first.

    With `tangents` inputs are what a node saved, whatever hooks made of it, and so many gradients,
    of `any_layout` or of that recorded.
    """
    number = {slot: n for n, slot in enumerate(inputs)}
    for step in steps:
        for slot in (*step.reads, *(s for s in step.outs if s is not None)):
            number.setdefault(slot, len(number))
    joins = [fuse and may_wait(graph, step) for step in steps]
    moved = [step.numbered(number) for step in steps]
    wanted = [number[slot] for slot in outputs]
    fixed = () if tangents is None else (0, len(inputs) - (tangents if any_layout else 0))
    if any(step.parts or step.is_custom for step in steps):
        every = {n: _example(graph, slot) for slot, n in number.items()}
        return _chain(moved, joins, every, len(inputs), wanted, fixed, fuse)
    examples = tuple(_example(graph, slot) for slot in inputs)
    return _core.Program(
        _encoded(moved, wanted, joins), len(number), examples, tuple(wanted), *fixed
    )


def _chain(
    steps: list[Step],
    joins: list[bool],
    examples: dict[int, Any],
    inputs: int,
    outputs: list[int],
    fixed: Any,
    fuse: bool,
) -> Chain:
    def piece(group: list[Step], reads: list[int], outs: list[int], first: int) -> Any:
        """A program of some of the steps; what it reads is known to fit."""
        number = {slot: n for n, slot in enumerate(reads)}
        for slot in (s for step in group for s in step.outs if s is not None):
            number.setdefault(slot, len(number))
        moved = [step.numbered(number) for step in group]
        wanted = [number[slot] for slot in outs]
        encoded = _encoded(moved, wanted, joins[first : first + len(group)])
        return _core.Program(
            encoded, len(number), tuple(examples[n] for n in reads), tuple(wanted), 0, 0
        )

    def part(inner: Any) -> Any:
        count = len(inner.graph.inputs)
        return program(
            inner.graph,
            list(range(count)),
            inner.steps,
            inner.outputs,
            fuse=fuse,
            tangents=count,
            any_layout=True,
        )

    return Chain(steps, len(examples), examples, inputs, outputs, fixed, piece, part)


def _example(graph: Graph, slot: int) -> Any:
    if slot < len(graph.inputs):
        return graph.inputs[slot].example
    return graph.examples[slot]


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
