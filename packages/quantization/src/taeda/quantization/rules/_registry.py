"""How rules of quantized tensors are registered, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import arguments_by_name, operator, register

from .._parts import Quantized, is_quantized, parts_of, tensor_of

__all__ = ["call", "in_place", "integers_in", "one_scale", "rule", "same_scale", "wrapped"]

Function = Callable[..., Any]

_WRITTEN = core.layout_rules(core._quantized, True)
core.layout_rules(core._quantized, False)


def rule(*rows: str) -> Callable[[Function], Function]:
    """Register a function for rows, with the arguments of their schemas."""
    return register(rows, (core._quantized,))


def in_place(*rows: str) -> Callable[[Function], Function]:
    """Register a function for the in-place form of rows."""

    def put(function: Function) -> Function:
        _WRITTEN.update(dict.fromkeys(rows, function))
        return function

    return put


def call(row: str, *args: Any) -> Any:
    """The row on plain tensors."""
    return operator(row)(**arguments_by_name(row, args))


def one_scale(x: Tensor, name: str) -> Quantized:
    """The parts of a tensor with one scale for all; RuntimeError for channels."""
    parts = parts_of(x, name)
    if parts.axis is not None:
        raise RuntimeError(
            f"{name}: a tensor that is {parts.scheme} has a scale for each channel, and {name} is computed "
            "with one for all: dequantize() first"
        )
    return parts


def integers_in(value: Any) -> Any:
    """A value with the integers of the quantized tensors in it, those of lists too."""
    if isinstance(value, (list, tuple)):
        return [integers_in(part) for part in value]
    return parts_of(value, "").integers if is_quantized(value) else value


def wrapped(made: Any, parts: Quantized) -> Any:
    """Integers that were made, with the scales of `parts`; of lists each."""
    if isinstance(made, Tensor):
        return tensor_of(parts.like(made))
    return type(made)([wrapped(one, parts) for one in made])


def same_scale(row: str, *args: Any) -> Any:
    """The row on the integers, the result with the scale of the first argument."""
    parts = one_scale(args[0], row.partition(".")[0])
    return wrapped(call(row, *(integers_in(x) for x in args)), parts)
