"""Walks backward that end at the inputs of a program, and what arrives there.

An input may have been computed from another. What lies between them belongs to the caller, whose
own walk goes on behind the program.
"""

from __future__ import annotations

from collections.abc import Sequence

from taeda import Tensor
from taeda._core_api import runtime

__all__ = ["adds_gradients", "arrived"]

_APART, _SUMMED = 2, 3  # as `run_backward` numbers them


def arrived(
    results: Sequence[Tensor],
    wanted: Sequence[Tensor],
    tangents: Sequence[Tensor],
    apart: bool,
    *,
    create_graph: bool = False,
) -> list[list[Tensor]]:
    """The gradients that come from the results for each wanted tensor: their sum, or each `apart`;
    none for what no result reads. Sums of 16 bits come in float32: the caller's walk may add to them,
    and rounds what it has.
    """
    roots, given, ends = tuple(results), tuple(tangents), tuple(wanted)
    how = _APART if apart else _SUMMED
    found = runtime.run_backward(roots, given, ends, True, create_graph, False, how)
    return [list(g) if apart else [] if g is None else [g] for g in found]


def adds_gradients(results: Sequence[Tensor], wanted: Sequence[Tensor]) -> bool:
    """Whether some wanted tensor gets the sum of several gradients."""
    edges = [runtime.gradient_edge(t) for t in wanted]
    ends = {(id(node), nr) for node, nr in edges}
    inputs = {node for node, _ in ends}
    seen: set[int] = set()
    reached: set[tuple[int, int]] = set()
    nodes = [t.grad_fn for t in results]
    while nodes:
        node = nodes.pop()
        if node is None or id(node) in seen or id(node) in inputs:
            continue
        seen.add(id(node))
        for following, number in node.next_functions:
            edge = (id(following), number)
            if edge in ends:
                if edge in reached:
                    return True
                reached.add(edge)
            elif following is not None:
                nodes.append(following)
    return False
