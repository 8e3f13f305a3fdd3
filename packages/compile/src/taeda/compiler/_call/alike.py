"""Whether the gradients of a graph are what autograd gives for the program, in every bit."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from .._graph.bits import same
from .._replay.ends import arrived
from .._replay.trace import Trace

__all__ = ["same", "walks_alike"]


def walks_alike(trace: Trace, inputs: list[Tensor], result: Any, walked: Any) -> bool:
    """Whether the gradients that were found gave what autograd gives. The inputs are those from
    before the program ran, which may have cleared gradients.
    """
    results = trace.grown_in(result)
    for group, chosen, apart, tangents, found in walked:
        start = [r for r, one in zip(group.own(results), chosen, strict=True) if one]
        if not same(found, arrived(start, group.ends(inputs, results), tangents, apart)):
            return False
    return True
