"""A call of an operator that was defined at run time, as a piece of a program: called as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._graph.steps import Step, layout_of
from .memo import taken

__all__ = ["opaque"]

Run = Callable[[tuple[Any, ...]], Any]


def opaque(
    step: Step, run: Run, reads: list[int], outs: list[int], examples: dict[int, Any], strict: bool
) -> Run:
    """The call, from the values of the slots that it reads. What it gives is to be like what it
    gave; if `strict` in strides as well.
    """
    expected = [_facts(examples[slot], strict) for slot in outs]
    at = {slot: n for n, slot in enumerate(outs)}
    places = [None if slot is None else at[slot] for slot in step.outs]

    def run_whole(values: tuple[Any, ...]) -> list[Any]:
        made = run(values)
        return [None if n is None else made[n] for n in places]

    def made_by(values: tuple[Any, ...]) -> Any:
        whole = taken(step.op, lambda: _arguments(step, reads, values), lambda: run_whole(values))
        found_at = {n: value for n, value in zip(places, whole, strict=True) if n is not None}
        made = tuple(found_at[n] for n in range(len(outs)))
        for value, facts in zip(made, expected, strict=True):
            found = _facts(value, strict)
            if found != facts:
                raise RuntimeError(
                    f"{step.op} gave a result of (dtype, shape, strides) {found} in a compiled program, "
                    f"and {facts} for the same shapes before: what its results are like may depend on "
                    "its arguments' dtypes, shapes and strides alone. Leave the call out by "
                    "taeda.compiler.disable"
                )
        return made

    return made_by


def _facts(tensor: Any, strict: bool) -> Any:
    layout = layout_of(tensor)
    return layout.dtype, layout.shape, layout.strides if strict else ()


def _arguments(step: Step, reads: list[int], values: tuple[Any, ...]) -> tuple[Any, ...]:
    of = dict(zip(reads, values, strict=True))
    args = list(step.args)
    for k, i, slot in step.patches:
        if i < 0:
            args[k] = of[slot]
        else:
            entries = list(args[k])
            entries[i] = of[slot]
            args[k] = tuple(entries)
    return tuple(args)
