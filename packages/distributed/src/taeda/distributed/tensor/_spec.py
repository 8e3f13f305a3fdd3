"""Where a tensor lies: mesh, placements, shape, and which dimension of the mesh cuts first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import taeda

from ..device_mesh import DeviceMesh
from .placement_types import Partial, Placement, Replicate, Shard, chunk_of

__all__ = ["DTensorSpec", "Spec", "TensorMeta", "check_placements"]

#: that a mesh keeps before it drops those that no tensor has
MOST_SPECS = 10_000
_held = {0: object()}
_UNUSED = sys.getrefcount(_held[0])  # of what one dict holds, as this Python counts


class Spec:
    """How a tensor of one shape lies on a mesh. Made by `Spec.of`, once for each; compare by `is`.

    `order` has the dimensions of the mesh in the order in which they cut: where two of them cut one
    dimension of the tensor, the later one cuts the chunks of the earlier.
    """

    __slots__ = ("box", "mesh", "order", "placements", "plans", "shape")

    mesh: DeviceMesh
    placements: tuple[Placement, ...]
    shape: tuple[int, ...]
    order: tuple[int, ...]
    #: offsets and sizes of this rank's part
    box: tuple[tuple[int, ...], tuple[int, ...]]
    #: of calls whose first DTensor lies so, for the core
    plans: dict[bytes, Any]

    @staticmethod
    def of(
        mesh: DeviceMesh,
        placements: Sequence[Placement],
        shape: Sequence[int],
        order: Sequence[int] | None = None,
    ) -> Spec:
        """The one of these facts."""
        places, sizes = tuple(placements), tuple(shape)
        by = _order(places, order)
        key = places, sizes, by
        found: Spec | None = mesh._specs.get(key)
        if found is None:
            found = Spec()
            found.mesh, found.placements, found.shape, found.order = mesh, places, sizes, by
            found.plans = {}
            found.box = found.box_at(mesh.get_coordinate() or [0] * mesh.ndim)
            if len(mesh._specs) >= mesh._most_specs:
                _forget(mesh)
            mesh._specs[key] = found
        return found

    def box_at(self, coordinate: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Offsets and sizes of the part at a place of the mesh."""
        offsets, sizes = [0] * len(self.shape), list(self.shape)
        for dim in self.order:
            place = self.placements[dim]
            if isinstance(place, Shard):
                begin, size = chunk_of(sizes[place.dim], self.mesh.size(dim), coordinate[dim])
                offsets[place.dim] += begin
                sizes[place.dim] = size
        return tuple(offsets), tuple(sizes)

    @property
    def local_shape(self) -> tuple[int, ...]:
        """The shape of this rank's part."""
        return self.box[1]

    @property
    def is_partial(self) -> bool:
        """Are there terms to put together?"""
        return any(isinstance(place, Partial) for place in self.placements)

    @property
    def is_sharded(self) -> bool:
        """Is it cut anywhere?"""
        return any(isinstance(place, Shard) for place in self.placements)

    def cutters(self, dim: int) -> list[int]:
        """The dimensions of the mesh that cut this dimension of the tensor, in their order."""
        return [m for m in self.order if self.placements[m] == Shard(dim)]

    def parts(self, dim: int) -> int:
        """Into how many parts this dimension is cut."""
        count = 1
        for m in self.cutters(dim):
            count *= self.mesh.size(m)
        return count

    def moved(self, placements: Sequence[Placement], shape: Sequence[int] | None = None) -> Spec:
        """With other placements (and another shape), in the same order of cuts."""
        return Spec.of(self.mesh, placements, self.shape if shape is None else shape, self.order)

    def whole(self) -> Spec:
        """Whole on every rank."""
        return Spec.of(self.mesh, [Replicate()] * self.mesh.ndim, self.shape)

    def __repr__(self) -> str:
        told = ", ".join(map(str, self.placements))
        late = "" if list(self.order) == sorted(self.order) else f", cut in the order {self.order}"
        return f"{tuple(self.shape)} as ({told}){late} on {self.mesh}"


def _forget(mesh: DeviceMesh) -> None:
    """Drop plans, and the specs that nothing but the mesh holds: programs whose lengths change have no end
    of them. Plans go first, as their keys have the addresses of specs.
    """
    mesh._plans.clear()
    for spec in mesh._specs.values():
        spec.plans.clear()
    unused = [key for key in mesh._specs if sys.getrefcount(mesh._specs[key]) == _UNUSED]
    for key in unused:
        del mesh._specs[key]
    mesh._most_specs = max(MOST_SPECS, 2 * len(mesh._specs))


class TensorMeta(NamedTuple):
    """Shape, strides and dtype of the whole, as libraries state them for a `DTensorSpec`."""

    shape: taeda.Size
    stride: tuple[int, ...]
    dtype: taeda.dtype


def DTensorSpec(  # noqa: N802 - a class there
    mesh: DeviceMesh, placements: Sequence[Placement], tensor_meta: TensorMeta
) -> Spec:
    """The facts that `DTensor(local_tensor, spec, requires_grad=...)` takes, in PyTorch's words.

    TypeError or ValueError for placements that do not fit, and for strides other than those of rows:
    a rank's part says how it lies.
    """
    shape = tuple(tensor_meta.shape)
    if tuple(tensor_meta.stride) != contiguous_strides(shape):
        raise ValueError(
            f"DTensorSpec: a tensor of shape {shape} with strides {tuple(tensor_meta.stride)}: those of "
            f"rows are taken alone, {contiguous_strides(shape)}"
        )
    return Spec.of(mesh, check_placements(placements, mesh, len(shape), "DTensorSpec"), shape)


def _order(placements: tuple[Placement, ...], order: Sequence[int] | None) -> tuple[int, ...]:
    """The order of cuts, ascending where it makes no difference."""
    plain = tuple(range(len(placements)))
    if order is None:
        return plain
    dims = [place.dim for place in placements if isinstance(place, Shard)]
    return plain if len(set(dims)) == len(dims) else tuple(order)


def check_placements(
    placements: Any, mesh: DeviceMesh, ndim: int | None, what: str
) -> tuple[Placement, ...]:
    """Placements with dimensions from 0. TypeError, ValueError for those that do not fit."""
    if isinstance(placements, Placement):
        raise TypeError(f"{what}: placements is a sequence, such as [{placements!r}]")
    given = tuple(placements)
    if len(given) != mesh.ndim:
        raise ValueError(
            f"{what}: {len(given)} placements for a mesh of {mesh.ndim} dimensions: one for each"
        )
    made: list[Placement] = []
    for place in given:
        if not isinstance(place, (Shard, Replicate, Partial)):
            raise TypeError(
                f"{what}: a placement is Shard(dim), Replicate() or Partial(), not {place!r}"
            )
        if isinstance(place, Shard) and ndim is not None:
            if not -ndim <= place.dim < ndim:
                raise ValueError(f"{what}: {place!r} of a tensor with {ndim} dimensions")
            place = Shard(place.dim % ndim)
        made.append(place)
    return tuple(made)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a tensor that lies row after row."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(int(size), 1)
    return tuple(reversed(strides))


def whole_shape(local: taeda.Size, mesh: DeviceMesh, placements: Sequence[Placement]) -> list[int]:
    """The shape of the whole if all ranks' parts are as large as this one."""
    shape = list(local)
    for dim, place in enumerate(placements):
        if isinstance(place, Shard):
            shape[place.dim] *= mesh.size(dim)
    return shape
