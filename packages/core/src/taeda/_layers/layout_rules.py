"""What rules of every layout share: how they are registered, and how they call the row on plain tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda

from .._native import core as _core

__all__ = ["Rule", "arguments_by_name", "dimension", "operator", "register"]

Rule = Callable[..., Any]


def register(rows: Sequence[str], layouts: Sequence[Any]) -> Callable[[Rule], Rule]:
    """A decorator that makes a function the rule of these rows, with the arguments of their schemas."""

    def put(function: Rule) -> Rule:
        for layout in layouts:
            _core.layout_rules(layout, False).update(dict.fromkeys(rows, function))
        return function

    return put


def operator(row: str) -> Rule:
    """The row on plain tensors, called with all arguments of its schema."""
    name, _, overload = row.partition(".")
    function: Rule = getattr(getattr(taeda.ops.aten, name), overload or "default")
    return function


def arguments_by_name(row: str, args: Sequence[Any]) -> dict[str, Any]:
    """Arguments of a row by their names."""
    return dict(zip((name for name, _ in _core.op_parameters(row)), args, strict=True))


def dimension(dim: int, rank: int) -> int:
    """A dimension counted from 0; IndexError if a tensor of this rank has none such."""
    count = max(rank, 1)
    if not -count <= dim < count:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})"
        )
    return int(dim) % count
