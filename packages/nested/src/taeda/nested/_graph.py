"""Between a nested tensor and its values, for autograd: everything else is written in operations on the
values, which are strided. The gradient of a nested tensor is nested, of the same lengths.
"""

from __future__ import annotations

import functools
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import Source, check_source
from taeda.autograd import Function

from ._parts import Jagged, is_nested, packed, parts_of

__all__ = ["built", "compact", "components", "entries", "tensor_of"]


class _Values(Function):
    """The values of a nested tensor, as they lie."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        parts = parts_of(x)
        ctx.parts = parts.like(parts.values)  # without what leads to a graph
        # a view made under no_grad: a write into it is refused, as no gradient would know of it
        own = parts.values if parts.source is None else parts.source.tensor
        return own.view_as(own)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return built(ctx.parts, gradients[0])


class _Built(Function):
    """The nested tensor of these values."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, parts: Jagged) -> Any:
        ctx.parts = parts
        return tensor_of(parts.like(values.detach()))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return _values_for(gradients[0], ctx.parts), None


def _values_for(gradient: Tensor, parts: Jagged) -> Tensor:
    """The values of a gradient where those of `parts` lie; zeros in holes."""
    if not is_nested(gradient):
        raise RuntimeError(
            f"the gradient of a nested tensor is nested, but got one of layout {gradient.layout}"
        )
    own, values = entries(gradient)
    if own.bounds == parts.bounds and values.shape == parts.values.shape:
        return values
    if own.counts() != parts.counts() or own.ragged != parts.ragged:
        raise RuntimeError(
            f"the gradient has sequences of the lengths {own.counts()}, and the tensor of "
            f"{parts.counts()}"
        )
    made, at = values.new_zeros(parts.values.shape), parts.ragged - 1
    for (start, end), piece in zip(parts.bounds, own.of(values), strict=True):
        index = taeda.arange(start, end, device=made.device)
        made = made.index_add(at, index, piece)
    return made


@functools.cache
def _class() -> type[Tensor]:
    from ._tensor import NestedTensor  # late: a class of what this file makes

    return NestedTensor


def tensor_of(parts: Jagged) -> Tensor:
    """The nested tensor of these parts, outside of any graph."""
    values = parts.values
    made: Tensor = core.make_layout(
        taeda.jagged, parts.shape(), values.dtype, values.device, parts, _class()
    )
    return made


def built(parts: Jagged, values: Tensor, ragged: int | None = None) -> Tensor:
    """A nested tensor of these values, with their history, for the sequences of `parts`."""
    own = parts.like(values.detach(), ragged)
    if values.requires_grad and taeda.is_grad_enabled():
        made: Tensor = _Built.apply(values, own)
        parts_of(made).source = Source(values)
        return made
    return tensor_of(own)


def entries(x: Tensor) -> tuple[Jagged, Tensor]:
    """(parts, values as they lie, which know the history of `x`)."""
    parts = parts_of(x)
    if x.requires_grad and taeda.is_grad_enabled():
        check_source(x, parts)
        return parts, _Values.apply(x)
    return parts, parts.values


def compact(x: Tensor) -> tuple[Jagged, Tensor]:
    """The same with sequences that follow each other. The raggedness stays."""
    parts, values = entries(x)
    if parts.is_packed():
        return parts, values
    at = parts.ragged - 1
    pieces = parts.of(values)
    moved = taeda.cat(pieces, at) if pieces else values.narrow(at, 0, 0)
    made = packed(moved.detach(), parts.counts(), parts.ragged)
    made.size = parts.size
    return made, moved


def components(x: Tensor) -> list[Tensor]:
    """One tensor a sequence, with the history of `x`."""
    parts, values = entries(x)
    return parts.of(values)
