"""Other shapes: dimensions moved, added, split and joined, the batch and the ragged one left whole."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import dimension

from .._graph import built, compact
from .._ints import plain_sizes
from .._parts import is_nested
from ._registry import rule, together


@rule("transpose.int", "swapaxes", "swapdims")
def transpose(x: Tensor, dim0: int, dim1: int) -> Any:
    order = list(range(x.dim()))
    a, b = dimension(dim0, x.dim()), dimension(dim1, x.dim())
    order[a], order[b] = order[b], order[a]
    return permute(x, order)


@rule("permute")
def permute(x: Tensor, dims: Any) -> Any:
    order = [dimension(dim, x.dim()) for dim in dims]
    if sorted(order) != list(range(x.dim())):
        raise RuntimeError(f"permute: wanted each of {x.dim()} dimensions once, but got {dims}")
    if order[0]:
        return NotImplemented  # the batch stays first
    parts, values = compact(x)
    return built(parts, values.permute([dim - 1 for dim in order[1:]]), order.index(parts.ragged))


@rule("unsqueeze")
def unsqueeze(x: Tensor, dim: int) -> Any:
    at, (parts, values) = dimension(dim, x.dim() + 1), compact(x)
    if not at:
        return NotImplemented
    return built(parts, values.unsqueeze(at - 1), parts.ragged + (at <= parts.ragged))


@rule("squeeze.dim")
def squeeze_dim(x: Tensor, dim: int) -> Any:
    return squeeze_dims(x, [dim])


@rule("squeeze.dims")
def squeeze_dims(x: Tensor, dim: Any) -> Any:
    parts, values = compact(x)
    found = {dimension(d, x.dim()) for d in dim}
    if 0 in found or parts.ragged in found:
        return NotImplemented
    gone = [d for d in found if values.shape[d - 1] == 1]
    made = values.squeeze(tuple(d - 1 for d in gone))
    return built(parts, made, parts.ragged - sum(d < parts.ragged for d in gone))


@rule("view", "reshape")
def view(x: Tensor, shape: Any) -> Any:
    """The batch stays first, and the ragged size stays a size: `x.shape[1]`, or -1 in its place."""
    parts, values = compact(x)
    size = plain_sizes(shape)
    if not size or size[0] not in (len(parts.bounds), -1):
        return NotImplemented
    places = [at for at, n in enumerate(size) if n == parts.size]
    if not places and len(size) > parts.ragged and size[parts.ragged] == -1:
        places = [parts.ragged]
    if len(places) != 1 or size.count(-1) > 1:
        return NotImplemented
    at = places[0]
    before, own = values.shape[: parts.ragged - 1], size[1:at]
    if -1 not in own and taeda.Size(own).numel() != taeda.Size(before).numel():
        return NotImplemented  # the ragged dimension would be mixed with another
    size[at] = int(values.shape[parts.ragged - 1])
    if not size[at]:
        return NotImplemented
    return built(parts, values.reshape(size[1:]), at)


@rule("view_as", "reshape_as")
def view_as(x: Tensor, other: Tensor) -> Any:
    return view(x, other.shape) if is_nested(x) and is_nested(other) else NotImplemented


@rule("expand")
def expand(x: Tensor, size: Any, implicit: bool = False) -> Any:
    """The batch and the ragged size stay: as they are, or -1 in their place."""
    parts, values = compact(x)
    wanted = plain_sizes(size)
    if len(wanted) != x.dim():
        return NotImplemented
    if wanted[0] not in (len(parts.bounds), -1) or wanted[parts.ragged] not in (parts.size, -1):
        return NotImplemented
    wanted[parts.ragged] = -1
    return built(parts, values.expand(wanted[1:]))


@rule("expand_as")
def expand_as(x: Tensor, other: Tensor) -> Any:
    return expand(x, other.shape) if is_nested(x) and is_nested(other) else NotImplemented


@rule("unflatten.int")
def unflatten(x: Tensor, dim: int, sizes: Any) -> Any:
    at, (parts, values) = dimension(dim, x.dim()), compact(x)
    if at in (0, parts.ragged):
        return NotImplemented
    more = len(sizes) - 1 if at < parts.ragged else 0
    return built(parts, values.unflatten(at - 1, list(sizes)), parts.ragged + more)


@rule("flatten.using_ints")
def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    first, last = dimension(start_dim, x.dim()), dimension(end_dim, x.dim())
    parts, values = compact(x)
    if not first or first <= parts.ragged <= last or first > last:
        return NotImplemented
    less = last - first if last < parts.ragged else 0
    return built(parts, values.flatten(first - 1, last - 1), parts.ragged - less)


@rule("cat")
def cat(tensors: Any, dim: int = 0) -> Any:
    if not all(map(is_nested, tensors)):
        return NotImplemented
    at = dimension(dim, tensors[0].dim())
    parts, values = together("cat", tensors)
    if at in (0, parts.ragged):
        return NotImplemented
    return built(parts, taeda.cat(values, at - 1))


@rule("stack")
def stack(tensors: Any, dim: int = 0) -> Any:
    if not all(map(is_nested, tensors)):
        return NotImplemented
    at = dimension(dim, tensors[0].dim() + 1)
    parts, values = together("stack", tensors)
    if not at:
        return NotImplemented
    return built(parts, taeda.stack(values, at - 1), parts.ragged + (at <= parts.ragged))


def _parted(name: str) -> None:
    function = getattr(taeda, name)

    def run(x: Tensor, sizes: Any, dim: int = 0) -> Any:
        at, (parts, values) = dimension(dim, x.dim()), compact(x)
        if at in (0, parts.ragged):
            return NotImplemented
        return tuple(built(parts, part) for part in function(values, sizes, at - 1))

    rule(*{"chunk": ("chunk",), "split": ("split.Tensor", "split.sizes")}[name])(run)


for _name in ("chunk", "split"):
    _parted(_name)
