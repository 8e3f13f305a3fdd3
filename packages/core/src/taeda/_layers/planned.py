"""Types whose calls are planned: a first call is answered by the type and brings a plan, by which the
core computes later ones alone (`csrc/dispatch/run_planned.c`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any

from taeda import Tensor
from taeda._native import core as _core

from .dispatch import call_dispatched

__all__ = ["forget_plans", "hold_plans", "plan_calls", "result_in_parts"]

#: (the type's answer, how each result lies or None)
Answer = tuple[Any, tuple[Any, ...] | None]

forget_plans = _core.forget_plans
hold_plans = _core.hold_plans


def plan_calls(kind: type[Tensor], run: Callable[[Any, Any, Any], Answer]) -> None:
    """Let `run(operator, arguments, keywords)` answer calls on tensors of exactly this type.

    Its tensors have the attributes `_local`, their part, `_spec`, an object that is the same for all that
    lie the same, with a dict `plans`, and `_copied_from`, which is not None for those that are never
    planned. A plan has a `result_in_parts` for each result.
    """
    from taeda._library.operators import dispatched  # late: its modules import this room
    from taeda._library.table import rule_of

    def planner(op: str, args: tuple[Any, ...], inplace: bool) -> Answer:
        if kind in (rule_of(op, "torch_dispatch") or ()):
            return call_dispatched(op, args, inplace, None), None
        return run(*dispatched(op, args, inplace))

    _core.plan_calls(kind, planner)


def result_in_parts(
    spec: Any, part: Iterable[int], sizes: Iterable[int], strides: Iterable[int]
) -> tuple[Any, bytes, bytes, bytes]:
    """One result of a plan: its spec, the sizes of its part, the sizes and strides of the whole."""
    return spec, *(array("q", ints).tobytes() for ints in (part, sizes, strides))
