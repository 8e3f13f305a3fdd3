"""Tensors that lie in parts on the ranks of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.calls import disabled_torch_function

from .._collectives import broadcast
from ..checkpoint.metadata import ChunkStorageMetadata
from ..device_mesh import DeviceMesh, _current, device_of
from ._redistribute import redistributed
from ._spec import Spec, check_placements, contiguous_strides, whole_shape
from .placement_types import Partial, Placement, Replicate

__all__ = ["DTensor", "check_mesh", "distribute_tensor", "mesh_or_current"]


class DTensor(Tensor):
    """A tensor with the shape of the whole, of which this rank holds a part.

    Made by `distribute_tensor`, `DTensor.from_local`, the functions of this package that create
    tensors, and `fully_shard`. Programs are written as for one device; every operator computes on
    parts where that gives the same numbers, and gathers first where it does not.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import DTensor, Shard
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> x = DTensor.from_local(taeda.ones(2, 3), mesh, [Shard(0)])  # this rank's rows
    >>> (x + x).placements, (x + x).to_local().shape
    ((Shard(dim=0),), taeda.Size([2, 3]))
    >>> dist.destroy_process_group()
    """

    __torch_function__ = staticmethod(disabled_torch_function)
    #: why programs with such parameters are not exported
    _not_exported = (
        "is a DTensor, of which this rank holds a part, and a program is one device's: export the model "
        "before fully_shard or parallelize_module, or load the whole state into a model that is not cut"
    )
    _local: Tensor
    _spec: Spec
    _copied_from: tuple[Tensor, int] | None

    @staticmethod
    def __new__(
        cls,
        local_tensor: Tensor,
        spec: Spec,
        *,
        requires_grad: bool = False,
        strides: Sequence[int] | None = None,
    ) -> Any:
        return Tensor._make_wrapper_subclass(
            cls,
            spec.shape,
            strides=contiguous_strides(spec.shape) if strides is None else tuple(strides),
            dtype=local_tensor.dtype,
            device=local_tensor.device,
            requires_grad=requires_grad,
        )

    def __init__(
        self,
        local_tensor: Tensor,
        spec: Spec,
        *,
        requires_grad: bool = False,
        strides: Sequence[int] | None = None,
    ) -> None:
        self._local, self._spec, self._copied_from = local_tensor, spec, None

    @property
    def device_mesh(self) -> DeviceMesh:
        """The ranks that it lies on."""
        return self._spec.mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """How it lies along each dimension of the mesh."""
        return self._spec.placements

    @property
    def _local_tensor(self) -> Tensor:
        """This rank's part, as programs for PyTorch call it."""
        return self._local

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
        return DTensor(local, self._spec)

    def tolist(self) -> Any:
        """The numbers of the whole; all ranks call it."""
        with taeda.no_grad():
            return self.full_tensor().tolist()

    # ---- parts and wholes ----

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Sequence[int] | None = None,
        stride: Sequence[int] | None = None,
        grad_placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        """The tensor of which every rank has its part in `local_tensor`. Gradients pass.

        Without `placements` it is whole on every rank. Without `shape` all ranks' parts are taken
        to be as large as this one; with it, ValueError if this part is not the chunk that
        `placements` say. `run_check` compares the ranks' shapes, and makes replicas those of the
        first rank. `grad_placements` says how gradients lie that come back: by default as the
        tensor, and whole where it is Partial.
        """
        from ._functions import FromLocal  # late: they need DTensor

        mesh = check_mesh(mesh_or_current(device_mesh, "from_local"), "from_local")
        if not isinstance(local_tensor, Tensor) or isinstance(local_tensor, DTensor):
            raise TypeError(f"from_local takes a plain Tensor, not {type(local_tensor).__name__}")
        given = [Replicate()] * mesh.ndim if placements is None else placements
        places = check_placements(given, mesh, local_tensor.ndim, "from_local")
        back = _grad_placements(grad_placements, mesh, local_tensor.ndim, "from_local")
        sizes = whole_shape(local_tensor.shape, mesh, places) if shape is None else list(shape)
        spec = Spec.of(mesh, places, sizes)
        if tuple(local_tensor.shape) != spec.local_shape:
            raise ValueError(
                f"from_local: this rank's part has the shape {tuple(local_tensor.shape)}, and of "
                f"{tuple(sizes)} as ({', '.join(map(str, places))}) it has {spec.local_shape}"
            )
        local_tensor = local_tensor.to(_place(local_tensor, mesh))
        if run_check:
            local_tensor = _checked_part(local_tensor, spec)
        made: DTensor = FromLocal.apply(local_tensor, spec, back, stride)
        return made

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """This rank's part, on the same memory. Gradients pass.

        `grad_placements` says how the gradient lies of which this rank will give its part: by
        default as the tensor, and whole where it is Partial.
        """
        from ._functions import ToLocal  # late: they need DTensor

        back = _grad_placements(grad_placements, self.device_mesh, self.ndim, "to_local")
        if not taeda.is_grad_enabled() or not self.requires_grad:
            return self._local.detach()
        made: Tensor = ToLocal.apply(self, back)
        return made

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The whole tensor, on every rank; all ranks call it. Gradients pass.

        `grad_placements`: as those of `to_local`, of the whole: by default every rank has the same
        gradient.
        """
        whole = self.redistribute(placements=[Replicate()] * self.device_mesh.ndim)
        made = whole.to_local(grad_placements=grad_placements)
        return made.clone() if made.data_ptr() == self._local.data_ptr() else made

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: taeda.dtype | None = None,
        backward_dtype: taeda.dtype | None = None,
    ) -> DTensor:
        """The same tensor in another way on the same mesh; all ranks call it. Gradients pass.

        Shards to replicas are gathered, terms added (Partial), replicas cut, shards along another
        dimension exchanged. Nothing becomes Partial but a Partial: ValueError. The collectives are
        over when it returns, with `async_op` too. `forward_dtype` and `backward_dtype` are the
        dtypes in which values and gradients travel and arrive.
        """
        from ._functions import Redistribute  # late: they need DTensor

        mesh = self.device_mesh
        if device_mesh is not None and device_mesh != mesh:
            raise NotImplementedError(
                f"redistribute from {mesh} to {device_mesh}: a tensor stays on its mesh. Use full_tensor() "
                "and distribute_tensor"
            )
        if placements is None:
            raise RuntimeError("redistribute needs placements")
        wanted = check_placements(placements, mesh, self.ndim, "redistribute")
        for old, new in zip(self.placements, wanted, strict=True):
            if isinstance(new, Partial) and old != new:
                raise RuntimeError(
                    f"redistribute from {old!r} to {new!r}: only operators and from_local make terms"
                )
        made: DTensor = Redistribute.apply(
            self, self._spec.moved(wanted), forward_dtype, backward_dtype
        )
        return made

    def _shard_of(self, whole: Tensor) -> DTensor:
        """A whole tensor, which every rank has, as a tensor that lies as this one."""
        local = redistributed(whole.detach(), self._spec.whole(), self._spec)
        local = local.to(dtype=self.dtype, device=self.device)
        return self._like(local.clone() if local.data_ptr() == whole.data_ptr() else local)

    def __create_chunk_list__(self) -> list[ChunkStorageMetadata]:
        """The box that this rank holds, as checkpoints ask for it. RuntimeError for a Partial."""
        if self._spec.is_partial:
            raise RuntimeError(
                f"a checkpoint has no place for terms of a sum: {self._spec}. Redistribute it first"
            )
        offsets, sizes = self._spec.box
        return [ChunkStorageMetadata(taeda.Size(offsets), taeda.Size(sizes))]

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        from ._dispatch import run  # late: it needs DTensor

        return run(func, args, kwargs or {})


def _grad_placements(
    placements: Sequence[Placement] | None, mesh: DeviceMesh, ndim: int, what: str
) -> tuple[Placement, ...] | None:
    if placements is None:
        return None
    return check_placements(placements, mesh, ndim, f"{what}: grad_placements")


def _checked_part(local: Tensor, spec: Spec) -> Tensor:
    """The part, after a look at the others'. RuntimeError where a rank has another chunk."""
    from .._objects import all_gather_object

    mesh, made = spec.mesh, local
    for dim, place in enumerate(spec.placements):
        told: list[Any] = [None] * mesh.size(dim)
        mine = str(local.dtype), spec.shape, spec.placements
        all_gather_object(told, mine, mesh.get_group(dim))
        if any(one != mine for one in told):
            raise RuntimeError(
                f"from_local: the ranks along dimension {dim} of the mesh have different dtypes, shapes or "
                f"placements: {told}"
            )
        if isinstance(place, Replicate):
            made = made.clone(memory_format=taeda.contiguous_format)
            if made.numel():
                broadcast(made.detach(), group=mesh.get_group(dim), group_src=0)
    return made


def _place(tensor: Tensor, mesh: DeviceMesh) -> taeda.device:
    """The device of a part: what lies on the mesh's type of device, or on meta, stays."""
    kind = tensor.device.type
    return tensor.device if kind in (mesh.device_type, "meta") else device_of(mesh)


def mesh_or_current(mesh: DeviceMesh | None, what: str) -> Any:
    """The mesh given, or that of the `with` around. RuntimeError without one."""
    if mesh is None:
        if not _current.held:
            raise RuntimeError(f"{what} needs a device_mesh, or a `with mesh:` around it")
        return _current.held[-1]
    return mesh


def check_mesh(mesh: Any, what: str) -> DeviceMesh:
    """A mesh that this process is in. TypeError, ValueError for others."""
    if not isinstance(mesh, DeviceMesh):
        raise TypeError(f"{what}: mesh is a DeviceMesh, not {type(mesh).__name__}")
    if mesh.get_coordinate() is None:
        raise ValueError(f"{what}: this process is not in {mesh}")
    return mesh


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """A tensor as one that lies on a mesh; without placements whole on every rank.

    The values are those of rank `src_data_rank` of each line of the mesh, so that ranks agree; with
    None each rank cuts its own tensor, which must be the same, and nothing is sent. All ranks call
    it. It is a leaf, and requires a gradient as the tensor does. A DTensor is redistributed, if it
    lies on this mesh.

    Args:
        tensor: the whole, a leaf; a DTensor on this mesh is redistributed.
        device_mesh: the ranks; None is the mesh of the `with` around.
        placements: Shard or Replicate for each dimension of the mesh; None is whole on every
            rank.
        src_data_rank: whose values are taken, by its place in each line of the mesh: 0 by
            default. None takes each rank's own and sends nothing.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import Shard, distribute_tensor
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> x = distribute_tensor(taeda.ones(4, 3), mesh, [Shard(0)])
    >>> x.shape, x.to_local().shape  # of two ranks each has two rows
    (taeda.Size([4, 3]), taeda.Size([4, 3]))
    >>> dist.destroy_process_group()
    """
    mesh = check_mesh(mesh_or_current(device_mesh, "distribute_tensor"), "distribute_tensor")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"distribute_tensor takes a Tensor, not {type(tensor).__name__}")
    if not tensor.is_leaf:
        raise RuntimeError("distribute_tensor takes a leaf: detach() it, or use from_local")
    given = [Replicate()] * mesh.ndim if placements is None else placements
    places = check_placements(given, mesh, tensor.ndim, "distribute_tensor")
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh:
            raise ValueError(f"distribute_tensor: the tensor lies on {tensor.device_mesh}")
        return tensor.redistribute(mesh, places)
    if any(isinstance(place, Partial) for place in places):
        raise ValueError("distribute_tensor: a tensor is not taken apart into terms (Partial)")
    values = tensor.detach().to(_place(tensor, mesh))
    if values.device.type == "meta":
        src_data_rank = None
    if src_data_rank is not None:
        values = values.clone(memory_format=taeda.contiguous_format)
        for dim in range(mesh.ndim):
            if not -mesh.size(dim) <= src_data_rank < mesh.size(dim):
                raise ValueError(
                    f"distribute_tensor: no rank {src_data_rank} along dimension {dim} of {mesh}"
                )
            if values.numel():
                broadcast(values, group=mesh.get_group(dim), group_src=src_data_rank)
    spec = Spec.of(mesh, places, tensor.shape)
    local = redistributed(values, spec.whole(), spec)
    if local is values:
        local = values.clone(memory_format=taeda.contiguous_format)
    made: DTensor = DTensor(local, spec).requires_grad_(tensor.requires_grad)
    return made
