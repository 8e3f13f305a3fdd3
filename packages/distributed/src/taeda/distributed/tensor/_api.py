"""A tensor of which every rank of a mesh holds a part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.calls import disabled_torch_function

from .._collectives import all_gather_into_tensor, broadcast
from ..checkpoint.metadata import ChunkStorageMetadata
from ..device_mesh import DeviceMesh
from .placement_types import Placement, Replicate, Shard, chunk_of

__all__ = ["DTensor", "distribute_tensor"]


class DTensor(Tensor):
    """A tensor with the shape of the whole, of which this rank holds a part.

    Made by `distribute_tensor` and `fully_shard`. It takes the elementwise operations of optimizers
    and the norm of gradients; the other operators are refused by name. `full_tensor()` is the whole,
    `to_local()` this rank's part; both are for values, without gradients.
    """

    __torch_function__ = staticmethod(disabled_torch_function)

    @staticmethod
    def __new__(
        cls, local: Tensor, mesh: DeviceMesh, placement: Placement, shape: Sequence[int]
    ) -> Any:
        return Tensor._make_wrapper_subclass(
            cls, tuple(shape), dtype=local.dtype, device=local.device
        )

    def __init__(
        self, local: Tensor, mesh: DeviceMesh, placement: Placement, shape: Sequence[int]
    ) -> None:
        self._local, self._mesh, self._placement = local, mesh, placement

    @property
    def device_mesh(self) -> DeviceMesh:
        """The ranks that it lies on."""
        return self._mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """How it lies along each dimension of the mesh."""
        return (self._placement,)

    def __repr__(self, *args: Any, **options: Any) -> str:
        return f"DTensor(local={self._local!r}, shape={tuple(self.shape)}, placements={self.placements})"

    def __deepcopy__(self, memo: dict[int, Any]) -> DTensor:
        if id(self) not in memo:
            made = self._like(self._local.clone()).requires_grad_(self.requires_grad)
            if getattr(self, "_is_param", False):
                made._is_param = True  # type: ignore[attr-defined]  # as Parameter marks others
            memo[id(self)] = made
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "a DTensor is a part of a tensor and is not pickled: save it with "
            "taeda.distributed.checkpoint, or the result of full_tensor()"
        )

    def _like(self, local: Tensor) -> DTensor:
        """Another tensor that lies as this one does."""
        return DTensor(local, self._mesh, self._placement, self.shape)

    # ---- values ----

    def to_local(self) -> Tensor:
        """This rank's part, on the same memory. RuntimeError where a gradient would be lost."""
        self._check_no_gradient("to_local")
        return self._local.detach()

    def full_tensor(self) -> Tensor:
        """The whole tensor, on every rank; all ranks call it. RuntimeError where a gradient would be lost."""
        self._check_no_gradient("full_tensor")
        with taeda.no_grad():
            return self._gathered()

    def _check_no_gradient(self, name: str) -> None:
        if self.requires_grad and taeda.is_grad_enabled():
            raise RuntimeError(
                f"{name}() of a DTensor gives values without gradients: call it under no_grad(), or on "
                "detach()"
            )

    def _gathered(self) -> Tensor:
        if not isinstance(self._placement, Shard):
            return self._local.clone()
        dim, parts = self._placement.dim, self._mesh.size()
        moved = self._local.movedim(dim, 0)
        rows = self.shape[dim]
        each = -(-rows // parts)
        mine = moved.new_zeros(each, *moved.shape[1:])
        mine[: moved.shape[0]] = moved
        whole = moved.new_empty(each * parts, *moved.shape[1:])
        if whole.numel():
            all_gather_into_tensor(whole, mine, self._mesh.get_group())
        return whole[:rows].movedim(0, dim).contiguous()

    def _shard_of(self, whole: Tensor) -> DTensor:
        """A whole tensor, which every rank has, as a tensor that lies as this one."""
        local = local_part(whole.detach(), self._mesh, self._placement)
        return self._like(local.to(dtype=self.dtype, device=self.device))

    def __create_chunk_list__(self) -> list[ChunkStorageMetadata]:
        """The box that this rank holds, as checkpoints ask for it."""
        offsets = [0] * self.ndim
        if isinstance(self._placement, Shard):
            place = self._mesh.get_local_rank()
            dim = self._placement.dim
            offsets[dim] = chunk_of(self.shape[dim], self._mesh.size(), place)[0]
        return [ChunkStorageMetadata(taeda.Size(offsets), self._local.shape)]

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        from ._rules import run

        return run(func, args, kwargs or {})


def local_part(whole: Tensor, mesh: DeviceMesh, placement: Placement) -> Tensor:
    """A copy of what this rank holds of a tensor."""
    if isinstance(placement, Shard):
        size = whole.shape[placement.dim]
        begin, length = chunk_of(size, mesh.size(), mesh.get_local_rank())
        whole = whole.narrow(placement.dim, begin, length)
    return whole.clone(memory_format=taeda.contiguous_format)


def check_mesh(mesh: Any, what: str) -> DeviceMesh:
    """A mesh of one dimension that this process is in. TypeError, ValueError for others."""
    if not isinstance(mesh, DeviceMesh):
        raise TypeError(f"{what}: mesh is a DeviceMesh, not {type(mesh).__name__}")
    if mesh.ndim != 1:
        raise ValueError(
            f"{what}: the mesh has {mesh.ndim} dimensions, and this release takes one: give a line of "
            'it, such as mesh["dp"]'
        )
    if mesh.get_coordinate() is None:
        raise ValueError(f"{what}: this process is not in {mesh}")
    return mesh


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """A tensor as one that lies on a mesh of one dimension; without placements whole on every rank.

    The values are those of the mesh's rank `src_data_rank`, so that ranks agree; with None each
    rank cuts its own tensor, which must be the same, and nothing is sent. All ranks call it. It is
    a leaf, and requires a gradient as the tensor does.
    """
    mesh = check_mesh(device_mesh, "distribute_tensor")
    if not isinstance(tensor, Tensor) or isinstance(tensor, DTensor):
        raise TypeError(f"distribute_tensor takes a plain Tensor, not {type(tensor).__name__}")
    placement = _checked(placements, tensor)
    values = tensor.detach()
    if src_data_rank is not None:
        values = values.clone(memory_format=taeda.contiguous_format)
        broadcast(values, group=mesh.get_group(), group_src=src_data_rank)
    made = DTensor(local_part(values, mesh, placement), mesh, placement, tensor.shape)
    return made.requires_grad_(tensor.requires_grad)


def _checked(placements: Sequence[Placement] | None, tensor: Tensor) -> Placement:
    placements = (Replicate(),) if placements is None else tuple(placements)
    if len(placements) != 1:
        raise ValueError(f"{len(placements)} placements for a mesh of one dimension")
    placement = placements[0]
    if isinstance(placement, Replicate):
        return placement
    if not isinstance(placement, Shard):
        raise TypeError(f"a placement is Shard(dim) or Replicate(), not {placement!r}")
    if not -tensor.ndim <= placement.dim < tensor.ndim:
        raise ValueError(f"{placement} of a tensor with {tensor.ndim} dimensions")
    return Shard(placement.dim % tensor.ndim)
