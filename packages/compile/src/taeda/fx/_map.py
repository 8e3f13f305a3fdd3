"""Nodes inside arguments: tuples, lists, dicts and slices are looked into, everything else is a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from .node import Node  # late: nodes map their arguments

__all__ = ["map_aggregate", "map_arg"]


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The same structure with `fn(value)` for each value in it; lists and dicts become immutable ones.

    Args:
        a: a value, or a tuple, list, dict or slice of such
        fn: what is called with each value

    >>> map_aggregate([1, (2, slice(3))], lambda v: None if v is None else v + 1)
    [2, (3, slice(None, 4, None))]
    """
    if isinstance(a, tuple):
        entries = [map_aggregate(entry, fn) for entry in a]
        return type(a)(*entries) if hasattr(a, "_fields") else tuple(entries)
    if isinstance(a, list):
        return immutable_list([map_aggregate(entry, fn) for entry in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(entry, fn) for key, entry in a.items()})
    if isinstance(a, slice):
        return slice(*(map_aggregate(entry, fn) for entry in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """The same structure with `fn(node)` for each node in it.

    Args:
        a: a value, or a tuple, list, dict or slice of such
        fn: what is called with each node

    >>> graph = taeda.fx.symbolic_trace(lambda x: x + 1).graph
    >>> add = list(graph.nodes)[1]
    >>> taeda.fx.node.map_arg(add.args, lambda node: node.name)
    ('x', 1)
    """
    from .node import Node  # late: nodes map their arguments

    return map_aggregate(a, lambda value: fn(value) if isinstance(value, Node) else value)
