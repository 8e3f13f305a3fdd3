"""How rules are registered: under the text of a row, for layouts, for calls in place or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import arguments_by_name, register

from .._compressed import COMPRESSED, MATRICES

__all__ = [
    "ALL", "COO", "MATRICES", "OF_NUMBERS", "in_place", "named_arguments", "rule", "take", "writes",
]  # fmt: skip

#: rows whose in-place form gives a COO tensor other places and values, as PyTorch's does: a tensor that
#: was detached from it before keeps the old ones. All other writes are seen through detach() and data
EXCHANGING = frozenset(("add", "sub", "mul", "zero", "copy"))

Function = Callable[..., Any]

ALL = (taeda.sparse_coo, *COMPRESSED)
COO = (taeda.sparse_coo,)
OF_NUMBERS = (*COO, *MATRICES)


def rule(*rows: str, layouts: Any = ALL) -> Callable[[Function], Function]:
    """Register a function for rows, with the arguments of their schemas."""

    return register(rows, layouts)


def writes(x: Tensor) -> None:
    """RuntimeError if `x` takes part in a graph that is being recorded: its parts are exchanged, which no
    graph can follow.
    """
    if taeda.is_grad_enabled() and x.requires_grad:
        raise RuntimeError(
            "a sparse tensor that requires grad is not changed in place while gradients are "
            "recorded: use the form that makes a new tensor, or no_grad()"
        )


def in_place(*rows: str, layouts: Any = ALL) -> None:
    """Let the in-place form of rows take over what their rule makes."""
    for layout in layouts:
        made, written = core.layout_rules(layout, False), core.layout_rules(layout, True)
        written.update({row: _over(row, made[row]) for row in rows})


def _over(row: str, function: Function) -> Function:
    def write(self: Tensor, *args: Any) -> Any:
        if self.layout is taeda.strided:
            return NotImplemented
        writes(self)
        with taeda.no_grad():
            made = function(self, *args)
        if made is NotImplemented:
            return made
        return take(self, made, row)

    return write


def take(self: Tensor, made: Tensor, row: str) -> Tensor:
    """`self` becomes what was made, if that has its layout, shape and dtype."""
    name = row.partition(".")[0]
    if made.layout is not self.layout or made.shape != self.shape:
        raise RuntimeError(
            f"{name}_: the result has the layout {made.layout} and the shape {tuple(made.shape)}, "
            f"which a tensor of {self.layout} and {tuple(self.shape)} cannot take. Use {name}"
        )
    parts = core.parts_of(made)
    if made.dtype is not self.dtype:
        if not taeda.can_cast(made.dtype, self.dtype):
            raise RuntimeError(
                f"result type {made.dtype} can't be cast to the desired output type {self.dtype}"
            )
        parts = parts.like(parts.values.to(self.dtype))
    own = core.parts_of(self)
    if self.layout is taeda.sparse_coo and name in EXCHANGING:
        core.set_parts(self, parts)
    else:
        own.become(parts)
        core.set_parts(self, own)  # counts the version
    return self


def named_arguments(row: str, args: Any) -> dict[str, Any]:
    """The arguments after the first, by their names."""
    named = arguments_by_name(row, (None, *args))
    return dict([*named.items()][1:])
