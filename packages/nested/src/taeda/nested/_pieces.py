"""Nested tensors of the strided layout: a batch of tensors of one rank, which may differ in every size.

Each is a strided tensor of its own. For autograd two functions stand between the batch and its tensors;
everything else is written in operations on these.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda.autograd import Function

__all__ = ["Pieces", "is_pieces", "joined", "pieces_of"]


class Pieces:
    """The tensors of a batch, outside of any graph."""

    __slots__ = ("tensors",)
    in_files = "nested"

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.tensors = tuple(tensors)

    def named(self) -> tuple[tuple[str, Tensor], ...]:
        """The tensors, by their numbers."""
        return tuple((str(number), x) for number, x in enumerate(self.tensors))

    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each tensor: what a gradient has to have."""
        return [tuple(x.shape) for x in self.tensors]

    def sizes(self) -> list[list[int]]:
        """The sizes of each dimension of the tensors, one list a dimension."""
        return [list(sizes) for sizes in zip(*(x.shape for x in self.tensors), strict=True)]


class _Taken(Function):
    """The tensors of a batch."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        # a view made under no_grad: a write into it is refused, as no gradient would know of it
        return tuple(piece.view_as(piece) for piece in core.parts_of(x).tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return joined(gradients)


class _Joined(Function):
    """The batch of these tensors."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Any:
        return _tensor_of([x.detach() for x in tensors])

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return tuple(pieces_of(gradients[0]))


def is_pieces(x: Any) -> bool:
    """Is `x` a nested tensor of the strided layout?"""
    return isinstance(x, Tensor) and isinstance(core.parts_of(x), Pieces)


def pieces_of(x: Tensor) -> list[Tensor]:
    """The tensors of a batch, with its history; RuntimeError for what is no such batch."""
    if not is_pieces(x):
        raise RuntimeError(
            f"wanted a nested tensor of the strided layout, got {type(x).__name__} of {x.layout}"
        )
    if x.requires_grad and taeda.is_grad_enabled():
        return list(_Taken.apply(x))
    return list(core.parts_of(x).tensors)


@functools.cache
def _class() -> type[Tensor]:
    from ._strided import StridedNestedTensor  # late: a class of what this file makes

    return StridedNestedTensor


def _tensor_of(tensors: Sequence[Tensor]) -> Tensor:
    parts, first = Pieces(tensors), tensors[0]
    size = (len(tensors), *(max(sizes) for sizes in parts.sizes()))
    made: Tensor = core.make_layout(core._nested, size, first.dtype, first.device, parts, _class())
    return made


def joined(tensors: Sequence[Tensor]) -> Tensor:
    """The batch of these tensors, with their history. RuntimeError for none, and where ranks, dtypes or
    devices differ.
    """
    if not tensors:
        raise RuntimeError("a nested tensor wants at least one tensor, got an empty list")
    first = tensors[0]
    for x in tensors[1:]:
        if (x.dim(), x.dtype, x.device) != (first.dim(), first.dtype, first.device):
            raise RuntimeError(
                "a nested tensor wants tensors of one rank, dtype and device, got "
                f"{[(x.dim(), x.dtype, str(x.device)) for x in (first, x)]}"
            )
    if taeda.is_grad_enabled() and any(x.requires_grad for x in tensors):
        made: Tensor = _Joined.apply(*tensors)
        return made
    return _tensor_of([x.detach() for x in tensors])
