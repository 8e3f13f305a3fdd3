"""Nodes of the graph between plain tensors and DTensors, and between ways to lie on a mesh.

Their backwards are written in one another, so that gradients have gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from ._api import DTensor
from ._redistribute import redistributed
from ._spec import Spec
from .placement_types import Partial, Placement, Replicate

__all__ = ["FromLocal", "Redistribute", "ToLocal"]


def _whole_terms(placements: Sequence[Placement]) -> tuple[Placement, ...]:
    """The gradient of a sum is the same for each of its terms."""
    return tuple(Replicate() if isinstance(place, Partial) else place for place in placements)


class FromLocal(taeda.autograd.Function):
    """A DTensor of parts; the gradient of a part is the part of the gradient."""

    @staticmethod
    def forward(ctx: Any, local: Tensor, spec: Spec, back: Any, strides: Any) -> Any:
        ctx.spec, ctx.back = spec, back
        return DTensor(local.detach(), spec, strides=strides)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        wanted = _whole_terms(ctx.spec.placements) if ctx.back is None else ctx.back
        moved = Redistribute.apply(gradient, ctx.spec.moved(wanted), None, None)
        return ToLocal.apply(moved, None), None, None, None


class ToLocal(taeda.autograd.Function):
    """This rank's part; its gradient is this rank's part of the gradient."""

    @staticmethod
    def forward(ctx: Any, whole: Any, back: Any) -> Any:
        ctx.spec, ctx.back = whole._spec, back
        return whole._local.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        wanted = _whole_terms(ctx.spec.placements) if ctx.back is None else ctx.back
        return FromLocal.apply(gradient, ctx.spec.moved(wanted), None, None), None


class Redistribute(taeda.autograd.Function):
    """The same tensor in another way; its gradient goes back to the way it came from."""

    @staticmethod
    def forward(ctx: Any, source: Any, target: Spec, dtype: Any, back_dtype: Any) -> Any:
        ctx.spec, ctx.back_dtype, ctx.dtype = source._spec, back_dtype, source.dtype
        local = source._local if dtype is None else source._local.to(dtype)
        return DTensor(redistributed(local, source._spec, target).detach(), target)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        places = tuple(
            came if isinstance(place, Partial) and came == Replicate() else _back(place)
            for place, came in zip(ctx.spec.placements, gradient.placements, strict=True)
        )
        moved = Redistribute.apply(gradient, ctx.spec.moved(places), ctx.back_dtype, None)
        return moved.to(ctx.dtype) if moved.dtype != ctx.dtype else moved, None, None, None


def _back(place: Placement) -> Placement:
    return Replicate() if isinstance(place, Partial) else place
