"""Results that are computed from each other, in groups: each has a node, and its gradients end at
the results of those before it.

inputs ─▶ first results ─▶ second results ─▶ ...      a backward comes by the nodes from right to left

So whoever asks for the gradient of a result, or hooks it, sees what the program would give there.
What lies behind the results of two groups apart from them would be walked twice: then there are no
groups. Nor are there if a sum of gradients would have another order: the engine of autograd walks
from the newest node to the oldest, and group by group has to be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from taeda import Tensor
from taeda._core_api import runtime

__all__ = ["Group", "groups"]

Edge = tuple[int, int]  # a node, by its id, and the number of its output


@dataclass
class Group:
    """Results, by their places, none of which is computed from another one of them."""

    places: list[int]
    nodes: list[Any] = field(default_factory=list)  # of autograd, behind its results alone
    earlier: list[int] = field(default_factory=list)  # places of results that it was computed from
    into: dict[Edge, set[int]] = field(default_factory=dict)  # where it ends: by which nodes


def groups(results: Sequence[Tensor], wanted: Sequence[Tensor]) -> list[Group] | None:
    """The groups, those first that others are computed from; None if nodes for them would not do
    what the program does. `wanted` are the inputs that want gradients.
    """
    edges = [runtime.gradient_edge(t) for t in results]
    places = {(id(node), nr): place for place, (node, nr) in enumerate(edges)}
    if len(places) < len(results):
        return None
    inputs = [runtime.gradient_edge(t)[0] for t in wanted]
    stops = {id(node) for node in inputs}
    found: list[Group] = []
    level: dict[int, int] = {}
    for place in sorted(range(len(results)), key=lambda n: edges[n][0]._sequence_nr()):
        own = _behind(place, edges[place][0], places, stops)
        level[place] = max((level[p] + 1 for p in own.earlier), default=0)
        if level[place] == len(found):
            found.append(Group([]))
        _join(found[level[place]], own)
    for group in found:
        group.places.sort()
        group.earlier.sort()
    return found if len(found) == 1 or (_apart(found) and _in_order(found)) else None


def _behind(place: int, first: Any, places: dict[Edge, int], stops: set[int]) -> Group:
    """One result, as a group of its own."""
    own = Group([place])
    seen: dict[int, Any] = {}
    waiting = [first]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        for following, nr in node.next_functions:
            edge = (id(following), nr)
            if edge in places:
                own.earlier.append(places[edge])
            elif following is not None and id(following) not in stops:
                waiting.append(following)
                continue
            if following is not None:
                own.into.setdefault(edge, set()).add(node._sequence_nr())
    own.nodes = list(seen.values())
    own.earlier = sorted(set(own.earlier))
    return own


def _join(group: Group, more: Group) -> None:
    group.places += more.places
    known = {id(node) for node in group.nodes}
    group.nodes += [node for node in more.nodes if id(node) not in known]
    group.earlier = sorted({*group.earlier, *more.earlier})
    for edge, numbers in more.into.items():
        group.into.setdefault(edge, set()).update(numbers)


def _apart(found: list[Group]) -> bool:
    """Whether no node is behind two groups."""
    every = [id(node) for group in found for node in group.nodes]
    return len(set(every)) == len(every)


def _in_order(found: list[Group]) -> bool:
    """Whether what comes together at an end comes from newer nodes first, group by group."""
    newest: dict[Edge, int] = {}
    for group in found:
        for edge, numbers in group.into.items():
            if min(numbers) < newest.get(edge, -1):
                return False
        for edge, numbers in group.into.items():
            newest[edge] = max(numbers)
    return True
