"""What a trace is checked with: another trace, whose nodes and results must be the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import tensors_in
from taeda.fx.graph import Graph
from taeda.fx.node import Node, map_arg

__all__ = ["TracerWarning", "TracingCheckError", "first_difference", "mismatches"]

_COPIES = frozenset({"aten.clone.default", "aten._to_copy.default", "aten.contiguous.default"})


class TracerWarning(Warning):
    """A value of a tensor is part of a traced graph as a constant, or a check of a trace found
    other results.
    """


class TracingCheckError(Exception):
    """A traced function ran other operations when it was checked."""


def first_difference(
    one: Graph, other: Graph, value: Callable[[Node], Any], *, numbers: bool
) -> str:
    """The first nodes in which two graphs differ, in words; "" if there are none.

    `value` gives what an attribute holds. Without `numbers` only the operators count, and copies do not.
    """
    ones, others = list(_lines(one, value, numbers)), list(_lines(other, value, numbers))
    ends: tuple[str, str] = ("(the end of the graph)", "")
    for k in range(max(len(ones), len(others))):
        first, second = (found[k] if k < len(found) else ends for found in (ones, others))
        if first[0] != second[0]:
            return f"    traced: {_said(first)}\n    now:    {_said(second)}"
    return ""


def _said(line: tuple[str, str]) -> str:
    text, where = line
    return f"{text}    # {where}" if where else text


def _lines(graph: Graph, value: Callable[[Node], Any], numbers: bool) -> Iterator[tuple[str, str]]:
    place: dict[Node, str] = {}
    for node in graph.nodes:
        place[node] = f"%{len(place)}"
        where = node.stack_trace or ""
        if not numbers:
            if node.op == "call_function" and str(node.target) not in _COPIES:
                yield str(node.target), where
        elif node.op == "get_attr":
            yield f"{place[node]} = {_contents(value(node))}", where
        else:
            args, kwargs = (
                map_arg(part, lambda n: _Name(place[n])) for part in (node.args, node.kwargs)
            )
            name = node.target if node.op != "output" else "return"
            yield f"{place[node]} = {name}{args}{kwargs or ''}", where


class _Name(str):
    """A node among arguments."""

    __slots__ = ()
    __repr__ = str.__str__


def _contents(held: Any) -> str:
    if isinstance(held, Tensor) and held.numel() <= 8:
        return repr(held.detach())
    return f"a {held.dtype} tensor of shape {list(held.shape)}"


def mismatches(found: Any, expected: Any, tolerance: float) -> Iterator[str]:
    """What the results of a graph have in another way than those of the program."""
    pairs = zip(tensors_in(found), tensors_in(expected), strict=True)
    for number, (one, other) in enumerate(pairs, 1):
        try:
            taeda.testing.assert_close(one, other, rtol=tolerance, atol=1e-5, equal_nan=True)
        except AssertionError as error:
            yield (
                f"Output nr {number}. of the traced function does not match the corresponding "
                "output of the Python function. "
                f"Detailed error:\n{error}"
            )
