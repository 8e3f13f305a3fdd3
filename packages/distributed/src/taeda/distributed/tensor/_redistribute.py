"""From one way to lie on a mesh to another: the values, below the graph. All ranks call it.

Sums come first, as parts are smallest then; cuts are undone from the last to the first, so that each
gather is of whole lines; new cuts follow in their order. Where a single dimension of the mesh
changes and no other cuts the same dimension of the tensor, one collective does it.
"""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor

from .._collectives import all_gather_into_tensor, all_reduce, all_to_all, reduce_scatter_tensor
from .._types import ReduceOp
from ..device_mesh import DeviceMesh
from ._spec import Spec
from .placement_types import Partial, Placement, Replicate, Shard, chunk_of

__all__ = ["redistributed", "reduced"]

_KINDS = {
    "sum": ReduceOp.SUM,
    "avg": ReduceOp.AVG,
    "product": ReduceOp.PRODUCT,
    "max": ReduceOp.MAX,
    "min": ReduceOp.MIN,
}


def redistributed(local: Tensor, source: Spec, target: Spec) -> Tensor:
    """This rank's part of `target`, from its part of `source`; `local` itself if they are one."""
    if source is target:
        return local
    now = list(source.placements)
    if source.order == target.order or not _nested(source) or not _nested(target):
        made = _direct(local, source, target)
        if made is not None:
            return made
    mesh = source.mesh
    for dim, place in enumerate(now):  # sums
        wanted = target.placements[dim]
        if isinstance(place, Partial) and place != wanted and not isinstance(wanted, Shard):
            local, now[dim] = reduced(local, place, mesh, dim), Replicate()
    keep = _kept_cuts(source, target)
    for dim in reversed(source.order):  # gathers, from the last cut to the first
        place = now[dim]
        if isinstance(place, Shard) and dim not in keep:
            parent = _size_above(source, now, dim)
            local, now[dim] = _gather(local, place.dim, parent, mesh, dim), Replicate()
    for dim in target.order:  # cuts, in the order of the target
        wanted, place = target.placements[dim], now[dim]
        if place == wanted:
            continue
        if isinstance(wanted, Shard):
            if isinstance(place, Partial):
                local = _reduce_scatter(local, place, wanted.dim, mesh, dim)
            else:
                local = _cut(local, wanted.dim, mesh, dim)
        elif isinstance(wanted, Partial):
            local = _term(local, wanted, mesh, dim)
        now[dim] = wanted
    return local


def _nested(spec: Spec) -> bool:
    dims = [place.dim for place in spec.placements if isinstance(place, Shard)]
    return len(set(dims)) < len(dims)


def _direct(local: Tensor, source: Spec, target: Spec) -> Tensor | None:
    """By one collective, if one dimension of the mesh changes and its cut is the last in both."""
    pairs = zip(source.placements, target.placements, strict=True)
    changed = [dim for dim, (a, b) in enumerate(pairs) if a != b]
    if len(changed) != 1:
        return None
    dim, mesh = changed[0], source.mesh
    a, b = source.placements[dim], target.placements[dim]
    for spec, place in ((source, a), (target, b)):
        if isinstance(place, Shard) and spec.cutters(place.dim)[-1] != dim:
            return None
    if isinstance(a, Shard) and isinstance(b, Shard):
        return _move(local, a.dim, b.dim, _size_above(source, source.placements, dim), mesh, dim)
    if isinstance(a, Partial) and isinstance(b, Shard):
        return _reduce_scatter(local, a, b.dim, mesh, dim)
    return None


def _kept_cuts(source: Spec, target: Spec) -> set[int]:
    """The dimensions of the mesh whose cuts stay: the first ones of a dimension that are the same."""
    keep: set[int] = set()
    for dim in range(len(source.shape)):
        for a, b in zip(source.cutters(dim), target.cutters(dim), strict=False):
            if a != b:
                break
            keep.add(a)
    return keep


def _size_above(spec: Spec, now: Sequence[Placement], dim: int) -> int:
    """The size of what the cut by a dimension of the mesh was made of, on this rank."""
    place = spec.placements[dim]
    assert isinstance(place, Shard)
    size = spec.shape[place.dim]
    coordinate = spec.mesh.get_coordinate() or []
    for other in spec.cutters(place.dim):
        if other == dim:
            break
        size = chunk_of(size, spec.mesh.size(other), coordinate[other])[1]
    return size


# ---- one dimension of the mesh ----


def reduced(local: Tensor, place: Partial, mesh: DeviceMesh, dim: int) -> Tensor:
    """The terms of all ranks of a line, put together."""
    dtype = local.dtype
    made = local.detach().clone(memory_format=taeda.contiguous_format)
    if dtype is taeda.bool:
        made = made.to(taeda.uint8)
    if made.numel():
        all_reduce(made, _KINDS[place.reduce_op], mesh.get_group(dim))
    return made.to(dtype)


def _gather(local: Tensor, tensor_dim: int, size: int, mesh: DeviceMesh, dim: int) -> Tensor:
    """Whole lines along a dimension of the tensor, of `size`."""
    parts = mesh.size(dim)
    if parts == 1:
        return local
    moved = local.movedim(tensor_dim, 0)
    each = -(-size // parts)
    mine = moved
    if moved.shape[0] != each or not moved.is_contiguous():
        mine = moved.new_zeros(each, *moved.shape[1:])
        mine[: moved.shape[0]] = moved
    whole = mine.new_empty(each * parts, *mine.shape[1:])
    if whole.numel():
        all_gather_into_tensor(whole, mine, mesh.get_group(dim))
    return whole[:size].movedim(0, tensor_dim).contiguous()


def _cut(local: Tensor, tensor_dim: int, mesh: DeviceMesh, dim: int) -> Tensor:
    begin, size = chunk_of(local.shape[tensor_dim], mesh.size(dim), mesh.get_local_rank(dim))
    return local.narrow(tensor_dim, begin, size).clone(memory_format=taeda.contiguous_format)


def _reduce_scatter(
    local: Tensor, place: Partial, tensor_dim: int, mesh: DeviceMesh, dim: int
) -> Tensor:
    """This rank's chunk of the terms put together."""
    if local.dtype is taeda.bool or place.reduce_op == "product" or mesh.size(dim) == 1:
        return _cut(reduced(local, place, mesh, dim), tensor_dim, mesh, dim)
    parts, size = mesh.size(dim), local.shape[tensor_dim]
    moved = local.movedim(tensor_dim, 0)
    each = -(-size // parts)
    rows = moved.new_zeros(each * parts, *moved.shape[1:])
    rows[:size] = moved
    mine = rows.new_empty(each, *moved.shape[1:])
    if mine.numel():
        reduce_scatter_tensor(mine, rows, _KINDS[place.reduce_op], mesh.get_group(dim))
    count = chunk_of(size, parts, mesh.get_local_rank(dim))[1]
    return mine[:count].movedim(0, tensor_dim).contiguous()


def _move(local: Tensor, old: int, new: int, size: int, mesh: DeviceMesh, dim: int) -> Tensor:
    """From chunks along `old`, of `size` in all, to chunks along `new`: each rank gives each a piece."""
    parts, me = mesh.size(dim), mesh.get_local_rank(dim)
    if parts == 1:
        return local
    width = local.shape[new]
    send = [local.narrow(new, *chunk_of(width, parts, rank)).contiguous() for rank in range(parts)]
    mine = chunk_of(width, parts, me)[1]
    got = []
    for rank in range(parts):
        shape = list(local.shape)
        shape[new], shape[old] = mine, chunk_of(size, parts, rank)[1]
        got.append(local.new_empty(shape))
    if local.dtype is taeda.bool:
        bytes_out = [piece.to(taeda.uint8) for piece in got]
        all_to_all(bytes_out, [piece.to(taeda.uint8) for piece in send], mesh.get_group(dim))
        got = [piece.to(taeda.bool) for piece in bytes_out]
    else:
        all_to_all(got, send, mesh.get_group(dim))
    return taeda.cat(got, old)


def _term(local: Tensor, wanted: Partial, mesh: DeviceMesh, dim: int) -> Tensor:
    """A term whose reduction over the line is what every rank has."""
    if wanted.reduce_op in ("avg", "max", "min") or mesh.get_local_rank(dim) == 0:
        return local.clone()
    return taeda.zeros_like(local) if wanted.reduce_op == "sum" else taeda.ones_like(local)
