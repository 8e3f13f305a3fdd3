"""Whether a graph gives what the program gives: both run, the graph on copies, and every bit is compared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from taeda import Tensor

from .._arguments import tensors_in
from .._replay.memo import Memo, Unlike
from .._replay.trace import Trace, missed
from .._signals import let_through
from .alike import same, walks_alike

__all__ = ["Differs", "compared"]


class Differs(Exception):
    """The program raised, and its graph did not."""

    def __init__(self, raised: Exception) -> None:
        super().__init__(raised)
        self.raised = raised
        self.said = f"the program raised {type(raised).__name__}, which its graph did not"


def compared(
    function: Callable[..., Any],
    trace: Trace,
    tensors: list[Tensor],
    args: Any,
    kwargs: Any,
    rehearse: Any,
) -> tuple[Any, str, int]:
    """(the program's result, why its graph is none of it or "", the place of a wrong result)"""
    program = functools.partial(function, *args, **kwargs)
    if trace.plan.calls_custom:
        return _by_memo(program, trace, tensors, rehearse)
    states = [g.get_state() for g in trace.plan.generators]
    inputs, reason = trace.inputs(tensors), ""
    try:
        rehearsed = rehearse(trace, tensors)
    except Exception as error:  # noqa: BLE001 - the program itself decides whether this call fails
        let_through(error)
        reason, rehearsed = f"a rehearsal of its graph fails: {error}", None
    finally:  # KeyboardInterrupt has to find the generators as they were, too
        after = [g.get_state() for g in trace.plan.generators]
        for generator, state in zip(trace.plan.generators, states, strict=True):
            generator.set_state(state)
    if rehearsed is missed:
        return missed, "", 0
    try:
        result = program()
    except MemoryError:
        raise
    except Exception as error:
        let_through(error)
        if rehearsed is None:
            raise
        raise Differs(error) from None
    if rehearsed is None:
        return result, reason, 0
    return result, *_verdict(trace, inputs, result, rehearsed, after)


def _by_memo(
    program: Callable[[], Any], trace: Trace, tensors: list[Tensor], rehearse: Any
) -> tuple[Any, str, int]:
    """The same, where the graph calls what may have effects: the program runs first, between the
    copies and the run of its graph, which is given what these calls gave.
    """
    memo = Memo(program, trace.plan.generators)
    inputs, reason, after = trace.inputs(tensors), "", []
    with memo.offered():
        try:
            rehearsed = rehearse(trace, tensors)
        except MemoryError:
            raise
        except Unlike as error:
            reason, rehearsed = str(error), None
        except Exception as error:  # noqa: BLE001 - the program itself decides whether this call fails
            let_through(error)
            reason, rehearsed = f"a rehearsal of its graph fails: {error}", None
        after = [g.get_state() for g in trace.plan.generators]
    if rehearsed is missed:
        return missed, "", 0
    if not memo.ran:
        return program(), reason, 0
    if memo.raised is not None:
        if rehearsed is None:
            raise memo.raised
        raise Differs(memo.raised)
    if rehearsed is None:
        return memo.result, reason, 0
    return memo.result, *_verdict(trace, inputs, memo.result, rehearsed, after)


def _verdict(
    trace: Trace, inputs: Any, result: Any, rehearsed: Any, after: list[Tensor]
) -> tuple[str, int]:
    place = unlike(trace, inputs or [], result, rehearsed, after)
    return "its graph gave other bits than the program itself" * (place >= 0), place


def unlike(trace: Trace, inputs: Any, result: Any, rehearsed: Any, after: Any) -> int:
    """The place of the first tensor that differs; 0 if something else does, -1 if nothing."""
    found, written, gradients, walked = rehearsed
    if not same(found, result):
        pairs = zip(tensors_in(found), tensors_in(result), strict=False)
        return next((n for n, (a, b) in enumerate(pairs) if not same(a, b)), 0)
    alike = (
        all(same(a, b) for b, a in written)
        and all(same(g, leaf.grad) for leaf, g in gradients)
        and (walked is None or walks_alike(trace, inputs, result, walked))
        and all(
            g.get_state().equal(state)
            for g, state in zip(trace.plan.generators, after, strict=True)
        )
    )
    return -1 if alike else 0
