"""One parameter of a unit: how it is cut, by this unit and by tensor parallelism before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn

from .._replaced import replace
from ..device_mesh import DeviceMesh
from ..tensor._api import DTensor
from ..tensor._redistribute import redistributed
from ..tensor._spec import Spec
from ..tensor.placement_types import Partial, Placement, Replicate, Shard, chunk_of

__all__ = ["Sharded"]


class Sharded:
    """A parameter before it is cut: its dimension, and how its shard lies."""

    def __init__(
        self, name: str, param: Tensor, mesh: DeviceMesh, dim: int, keep: Callable[[Tensor], Tensor]
    ) -> None:
        self.name, self.dim = name, dim  # the parameter itself is let go: it is whole
        self.inner: Spec | None = param._spec if isinstance(param, DTensor) else None
        local = param._local if isinstance(param, DTensor) else param
        #: the shape of what this unit cuts, its cut dimension first
        self.shape = taeda.Size(_first(list(local.shape), dim))
        self.spec = self._spec(mesh, param.shape)
        self.shard: Any = self._cut(param, local.detach(), mesh, keep)

    def _spec(self, mesh: DeviceMesh, shape: taeda.Size) -> Spec:
        own: list[Placement] = [Replicate()] * (mesh.ndim - 1) + [Shard(self.dim)]
        if self.inner is None:
            return Spec.of(mesh, own, shape)
        joined = _joined(mesh, self.inner.mesh, self.name)
        places = [*own, *self.inner.placements]
        order = [*range(mesh.ndim, joined.ndim), *range(mesh.ndim)]  # tensor parallelism cut first
        return Spec.of(joined, places, self.inner.shape, order)

    def _cut(
        self, param: Tensor, local: Tensor, mesh: DeviceMesh, keep: Callable[[Tensor], Tensor]
    ) -> Any:
        """The shard; `keep` brings it to where shards lie."""
        count, place = mesh.size(mesh.ndim - 1), mesh.get_local_rank(mesh.ndim - 1)
        size = local.shape[self.dim]
        if self.dim and size % count:
            raise NotImplementedError(
                f"{self.name}: dimension {self.dim} of {tuple(local.shape)} does not divide by {count}, and "
                "only dimension 0 may be cut unevenly"
            )
        part = local.narrow(self.dim, *chunk_of(size, count, place))
        made = DTensor(keep(part.clone(memory_format=taeda.contiguous_format)), self.spec)
        replace(param, "fully_shard")
        return nn.Parameter(made, param.requires_grad)

    def rows(self, part: Tensor) -> Tensor:
        """A part with the cut dimension first."""
        return part.movedim(self.dim, 0) if self.dim else part

    def back(self, rows: Tensor) -> Tensor:
        """What has the cut dimension first, as the parameter has it."""
        return rows.movedim(0, self.dim).contiguous() if self.dim else rows

    def dressed(self, whole: Tensor) -> Tensor:
        """The whole, as a DTensor of tensor parallelism if it was one."""
        return whole if self.inner is None else DTensor(whole, self.inner)

    def plain(self, gradient: Tensor | None) -> Tensor | None:
        """A gradient of the whole, without the DTensor around it, its cut dimension first."""
        if isinstance(gradient, DTensor):
            assert self.inner is not None
            gradient = redistributed(gradient._local, gradient._spec, self.inner)
        return None if gradient is None else self.rows(gradient)


def _first(shape: list[int], dim: int) -> list[int]:
    return [shape[dim], *shape[:dim], *shape[dim + 1 :]]


def _joined(outer: DeviceMesh, inner: DeviceMesh, name: str) -> DeviceMesh:
    """The mesh with the dimensions of both, of which they are lines. ValueError if there is none."""
    root = outer._root or outer
    names = outer.mesh_dim_names, inner.mesh_dim_names
    if None in names or (inner._root or inner) is not root:
        raise ValueError(
            f"{name} is a DTensor on {inner}, which is not a line of the mesh that fully_shard's {outer} is "
            'a line of: make one mesh with names, and give mesh["dp"] here and mesh["tp"] there'
        )
    return root[(*(names[0] or ()), *(names[1] or ()))]


def check_terms(param: Any, name: str) -> None:
    """ValueError for a parameter that is terms of a sum."""
    if any(isinstance(place, Partial) for place in param.placements):
        raise ValueError(f"{name} is terms of a sum: {param.placements}")
