"""Between a masked tensor and its data, for autograd: everything else is written in operations on data
and mask, which are plain tensors.

A gradient is a masked tensor with the mask of what it is the gradient of. Elements that a mask
leaves out get 0 on the way to plain tensors, whatever was computed at their places.
"""

from __future__ import annotations

import functools
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import Source, check_source, check_writes, writes
from taeda.autograd import Function

__all__ = ["Masked", "built", "data_of", "is_masked", "mask_of_parts", "safe", "tensor_of"]

_MASKED = core._masked


class Masked:
    """Data and mask, of one shape."""

    __slots__ = ("data", "mask", "source")
    in_files = "masked"

    def __init__(self, data: Tensor, mask: Tensor) -> None:
        self.data, self.mask = data, mask
        self.source: Any = None  # what the data is, if a graph knows of that

    def named(self) -> tuple[tuple[str, Tensor], ...]:
        """The strided tensors, by their names."""
        return ("data", self.data), ("mask", self.mask)


class _Data(Function):
    """The data of a masked tensor."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        parts = core.parts_of(x)
        ctx.mask, ctx.writes = parts.mask, writes([parts.mask])
        # a view made under no_grad: a write into it is refused, as no gradient would know of it
        own = parts.data if parts.source is None else parts.source.tensor
        return own.view_as(own)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return built(gradients[0], _mask_kept(ctx))


class _Built(Function):
    """The masked tensor of this data."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor) -> Any:
        ctx.mask, ctx.writes = mask, writes([mask])
        return tensor_of(data.detach(), mask)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return _kept(gradients[0], _mask_kept(ctx)), None


def _mask_kept(ctx: Any) -> Tensor:
    check_writes([("mask", ctx.mask)], ctx.writes)
    found: Tensor = ctx.mask
    return found


def _kept(gradient: Tensor, mask: Tensor) -> Tensor:
    own = data_of(gradient) if is_masked(gradient) else gradient
    if is_masked(gradient):
        mask = mask & mask_of_parts(gradient)
    return own.masked_fill(~mask, 0)


def is_masked(x: Any) -> bool:
    """Does `x` have data and a mask?"""
    return isinstance(x, Tensor) and isinstance(core.parts_of(x), Masked)


@functools.cache
def _class() -> type[Tensor]:
    from ._tensor import MaskedTensor  # late: a class of what this file makes

    return MaskedTensor


def tensor_of(data: Tensor, mask: Tensor) -> Tensor:
    """The masked tensor of these, outside of any graph."""
    made: Tensor = core.make_layout(
        _MASKED, tuple(data.shape), data.dtype, data.device, Masked(data, mask), _class()
    )
    return made


def built(data: Tensor, mask: Tensor) -> Tensor:
    """The masked tensor of these, with the history of `data`."""
    if data.requires_grad and taeda.is_grad_enabled():
        made: Tensor = _Built.apply(data, mask)
        core.parts_of(made).source = Source(data)
        return made
    return tensor_of(data.detach(), mask)


def data_of(x: Tensor) -> Tensor:
    """The data of a masked tensor, with its history."""
    if x.requires_grad and taeda.is_grad_enabled():
        check_source(x, core.parts_of(x))
        made: Tensor = _Data.apply(x)
        return made
    found: Tensor = core.parts_of(x).data
    return found


def mask_of_parts(x: Tensor) -> Tensor:
    """The mask of a masked tensor."""
    found: Tensor = core.parts_of(x).mask
    return found


def safe(x: Tensor, value: float = 0.5) -> Tensor:
    """The data, with `value` where it does not count if gradients are recorded: no function that is
    differentiable there makes a gradient that is not a number of what is thrown away.
    """
    data = data_of(x)
    if not (x.requires_grad and taeda.is_grad_enabled()):
        return data
    return data.masked_fill(~mask_of_parts(x), value)
