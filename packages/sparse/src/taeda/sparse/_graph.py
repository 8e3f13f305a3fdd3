"""Between a sparse tensor and its values, for autograd: everything else is written in operations on
the values, which are strided.

The gradient of a sparse tensor is sparse: it has the places of the tensor, and no others.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import Source, check_source, check_writes, writes
from taeda.autograd import Function

from ._parts import Coo, Parts, coalesced, keys_of, parts_of, tensor_of

__all__ = ["at_places", "built", "entries", "find", "raw_entries", "row_major"]


class _Values(Function):
    """The values of a tensor without repeated places."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, parts: Parts) -> Any:
        _keep(ctx, parts, tuple(x.shape))
        # a view made under no_grad: a write into it is refused, as no gradient would know of it
        own = parts.values if parts.source is None else parts.source.tensor
        return own.view_as(own)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return built(_kept(ctx), gradients[0], ctx.size), None


class _Built(Function):
    """The tensor of these values."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, parts: Parts, size: Any) -> Any:
        _keep(ctx, parts, size)
        return tensor_of(parts.like(values.detach()), size)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return at_places(gradients[0], _kept(ctx)), None, None


def _keep(ctx: Any, parts: Parts, size: Any) -> None:
    """What a gradient will be made with: no values, and so no graph."""
    ctx.parts, ctx.size = parts.like(parts.values), size
    ctx.writes = writes(x for _, x in parts.placing())


def _kept(ctx: Any) -> Parts:
    check_writes(ctx.parts.placing(), ctx.writes)
    found: Parts = ctx.parts
    return found


def _records(x: Tensor) -> bool:
    return x.requires_grad and taeda.is_grad_enabled()


def entries(x: Tensor) -> tuple[Any, Tensor]:
    """(parts without repeated places, their values, which know the history of `x`)."""
    own = parts_of(x)
    parts = coalesced(own, x.shape)
    if not _records(x):
        return parts, parts.values
    check_source(x, own)
    return parts, _Values.apply(x, parts)


def raw_entries(x: Tensor) -> tuple[Any, Tensor]:
    """The same for what is linear in the values: places may repeat where nothing is recorded."""
    if _records(x):
        return entries(x)
    parts = parts_of(x)
    return parts, parts.values


def built(parts: Parts, values: Tensor, size: Any) -> Tensor:
    """A tensor of these values at the places of `parts`."""
    if _records(values):
        made: Tensor = _Built.apply(values, parts, tuple(size))
        core.parts_of(made).source = Source(values)
        return made
    return tensor_of(parts.like(values.detach()), size)


def at_places(x: Tensor, parts: Parts) -> Tensor:
    """The elements of `x`, strided or sparse, at the places of `parts`: values of their form."""
    own = parts_of(x)
    if own is None:
        places = parts.places()
        return parts.shaped(x[places] if places else x.unsqueeze(0).expand(_count(parts), *x.shape))
    own, values = entries(x)
    if _same_places(own, parts):
        return values
    return parts.shaped(_found(x.shape, *row_major(own, values, x.shape), parts))


def _found(size: Any, own: Any, values: Tensor, parts: Parts) -> Tensor:
    """Elements at places of `parts`, of values of `own`, whose places rise."""
    wanted, known, flat = parts.places(), own.places(), own.flat(values)
    if not wanted or not known:
        return flat.expand(_count(parts), *flat.shape[1:])
    found, at = find(keys_of(known, size), keys_of(wanted, size))
    if not known[0].numel():
        return flat.new_zeros((found.numel(), *flat.shape[1:]))
    shape = (-1, *(1,) * (flat.dim() - 1))
    return flat[at].masked_fill(~found.reshape(shape), 0)


def row_major(parts: Any, values: Tensor, size: Any) -> tuple[Any, Tensor]:
    """The same entries in the order of their places; by coordinates, if they must be moved."""
    if parts.is_row_major:
        return parts, values
    places, flat = parts.places(), parts.flat(values)
    order = taeda.argsort(keys_of(places, size), stable=True)
    moved = flat[order]
    return Coo(taeda.stack(places)[:, order], moved.detach(), True), moved


def find(keys: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """(whether each wanted key is among these, which rise; where)."""
    if not keys.numel():
        return taeda.zeros_like(wanted, dtype=taeda.bool), wanted
    at = taeda.searchsorted(keys, wanted).clamp(max=keys.numel() - 1)
    return keys[at] == wanted, at


def _count(parts: Parts) -> int:
    return int(parts.values.shape[0])


def _same_places(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, Coo):
        return a.indices is b.indices
    same = a.layout is b.layout and a.blocksize == b.blocksize
    return same and a.compressed is b.compressed and a.plain is b.plain
