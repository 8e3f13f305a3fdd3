"""What rules of every layout share: how they are registered, and how they call the row on plain tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import taeda

from .._native import core as _core

__all__ = ["Rule", "arguments_by_name", "dimension", "operator", "register", "require_plain"]

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
    names = _names(row) if "::" not in row else _names.__wrapped__(row)  # which may be defined anew
    return dict(zip(names, args, strict=True))


@functools.cache
def _names(row: str) -> tuple[str, ...]:
    return tuple(name for name, _ in _core.op_parameters(row))


def require_plain(what: str, x: Any) -> None:
    """RuntimeError for a tensor of another kind than plain, which is made of others: a kind is made of plain
    tensors. What is no tensor is not looked at.
    """
    if isinstance(x, taeda.Tensor) and _core.parts_of(x) is not None:
        kind, way = _kind_of(x)
        raise RuntimeError(f"{what} must be a plain tensor, but got {kind}: use {way}")


def _kind_of(x: Any) -> tuple[str, str]:
    """(its kind in words, what makes it plain)"""
    if x.is_quantized:
        return "a quantized tensor", "its dequantize()"
    if x.is_nested:
        return "a nested tensor", "its unbind(), or its to_padded_tensor(0.0)"
    if type(x) is not taeda.Tensor and x.layout is taeda.strided:
        return f"a {type(x).__name__}", "its to_tensor(0.0)"
    return f"a tensor of layout {x.layout}", "its to_dense()"


def dimension(dim: int, rank: int) -> int:
    """A dimension counted from 0; IndexError if a tensor of this rank has none such."""
    count = max(rank, 1)
    if not -count <= dim < count:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})"
        )
    return int(dim) % count
