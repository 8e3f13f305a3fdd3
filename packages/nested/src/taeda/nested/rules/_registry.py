"""How rules of nested tensors are registered, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import operator, register

from .._graph import compact
from .._parts import Jagged, is_nested

__all__ = ["call", "function_of", "rule", "rule_in_place", "together"]

Function = Callable[..., Any]


def rule(*rows: str) -> Callable[[Function], Function]:
    """Register a function for rows, with the arguments of their schemas."""

    return register(rows, (taeda.jagged,))


def rule_in_place(*rows: str) -> Callable[[Function], Function]:
    """Register a function for the calls of rows that write into their first tensor."""

    def put(function: Function) -> Function:
        core.layout_rules(taeda.jagged, True).update(dict.fromkeys(rows, function))
        return function

    return put


def function_of(row: str) -> Function:
    """The rule of a row, of the call that makes a new tensor."""
    found: Function = core.layout_rules(taeda.jagged, False)[row]
    return found


def call(row: str) -> Function:
    """The row on strided tensors, called with all arguments of its schema."""
    return _vector_norm if row == "vector_norm" else operator(row)


def _vector_norm(self: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    """`linalg` has it, and not `aten`."""
    return taeda.linalg.vector_norm(self, ord, dim, keepdim, dtype=dtype)


def together(name: str, tensors: Any) -> tuple[Jagged, list[Any]]:
    """Parts of nested tensors of one raggedness, and values for each tensor, strided ones as they broadcast
    to those. RuntimeError for tensors that differ.
    """
    if len(tensors) == 1:
        alone, values = compact(tensors[0])
        return alone, [values]
    nested = [x for x in tensors if is_nested(x)]
    pairs = [compact(x) for x in nested]
    parts = pairs[0][0]
    for x, (own, _) in zip(nested, pairs, strict=True):
        if own.size != parts.size or own.ragged != parts.ragged or x.dim() != nested[0].dim():
            shapes = " and ".join(f"({', '.join(map(str, x.shape))})" for x in nested)
            raise RuntimeError(
                f"{name}: got the shapes {shapes}: nested tensors go together that have "
                "one raggedness. Make them with the same offsets (nested_tensor_from_jagged)"
            )
    found = iter(values for _, values in pairs)
    return parts, [next(found) if is_nested(x) else _beside(name, x, parts) for x in tensors]


def _beside(name: str, x: Any, parts: Jagged) -> Any:
    """A strided tensor or a number as it broadcasts to packed values."""
    if not isinstance(x, Tensor) or not x.dim():
        return x
    rank, at = parts.values.dim() + 1, parts.ragged
    place = x.dim() - rank + at  # of the ragged dimension in `x`
    if x.dim() > rank or (place >= 0 and x.shape[place] != 1):
        raise RuntimeError(
            f"{name}: got the shapes ({', '.join(map(str, parts.shape()))}) and "
            f"{tuple(x.shape)}: a strided tensor has the size 1 in place of {parts.size}"
        )
    if x.dim() < rank or x.shape[0] == 1:
        return x.squeeze(0) if x.dim() == rank else x
    if x.shape[0] != len(parts.bounds):
        raise RuntimeError(
            f"{name}: the batch has {len(parts.bounds)} tensors, and the strided tensor the "
            f"shape {tuple(x.shape)}"
        )
    return x.index_select(0, parts.numbers()).squeeze(at).movedim(0, at - 1)
