"""How rules of masked tensors are registered, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import register

from .._graph import built, data_of, is_masked, mask_of_parts

__all__ = ["in_place", "map_tensors", "one_mask", "rule"]

Function = Callable[..., Any]

_MADE, _WRITTEN = (core.layout_rules(core._masked, written) for written in (False, True))


def rule(*rows: str) -> Callable[[Function], Function]:
    """Register a function for rows, with the arguments of their schemas."""

    return register(rows, (core._masked,))


def map_tensors(value: Any, change: Callable[[Tensor], Any]) -> Any:
    """A value with `change` of the tensors in it, those of lists too."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [map_tensors(part, change) for part in value]
    return value


def _masks_equal(a: Tensor, b: Tensor) -> bool:
    """Whether two masks say the same."""
    return a is b or (a.shape == b.shape and a.device == b.device and bool(taeda.equal(a, b)))


def one_mask(*tensors: Any) -> Tensor:
    """The mask of all masked tensors among these, which must agree; ValueError if not."""
    masks = [mask_of_parts(x) for x in tensors if is_masked(x)]
    if not all(_masks_equal(masks[0], mask) for mask in masks[1:]):
        raise ValueError(
            "masked tensors go together that have equal masks: make one mask of both, and masked tensors "
            "with it (masked_tensor of get_data() and that mask)"
        )
    return masks[0]


def in_place(*rows: str) -> None:
    """Let the in-place form of rows take over what their rule makes."""
    _WRITTEN.update({row: _over(row, _MADE[row]) for row in rows})


def _over(row: str, function: Function) -> Function:
    name = row.partition(".")[0]

    def write(self: Tensor, *args: Any) -> Any:
        if not is_masked(self):
            return NotImplemented
        if taeda.is_grad_enabled() and (
            self.requires_grad or any(isinstance(x, Tensor) and x.requires_grad for x in args)
        ):
            raise RuntimeError(
                f"{name}_: a masked tensor is not changed in place while gradients are recorded: use "
                f"{name}, or no_grad()"
            )
        made = function(self, *args)
        if made is NotImplemented:
            return made
        if made.shape != self.shape or not taeda.can_cast(made.dtype, self.dtype):
            raise RuntimeError(
                f"{name}_: the result is {made.dtype} of {tuple(made.shape)}, which a tensor of "
                f"{self.dtype} and {tuple(self.shape)} cannot take. Use {name}"
            )
        parts = core.parts_of(built(data_of(made).to(self.dtype), mask_of_parts(made)))
        core.set_parts(self, parts)
        return self

    return write
