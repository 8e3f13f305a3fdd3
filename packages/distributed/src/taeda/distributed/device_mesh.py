"""Processes laid out as an array, with a group for every line along every dimension."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from ._groups.group import ProcessGroup
from ._setup import (
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    is_initialized,
    is_mpi_available,
    new_group,
)

__all__ = ["DeviceMesh", "init_device_mesh"]


#: what makes a default group for a mesh of a device
_BACKENDS = {"cpu": "gloo", "cuda": "nccl"}


class _Current(threading.local):
    """The meshes of the `with` blocks around, of each thread."""

    def __init__(self) -> None:
        self.held: list[DeviceMesh] = []


_current = _Current()


class DeviceMesh:
    """An array of ranks of the default group.
    Every process makes the same one; those outside of it take part in making it.

    `mesh["name"]` is the line (or with several names the plane) of this process along the
    dimensions with these names.

    Raises RuntimeError for a mesh larger than the world, ranks that come twice, or names that do
    not fit; KeyError for an unknown name.

    Args:
        device_type: the kind of device, "cpu".
        mesh: the ranks, as nested lists or a tensor of integers; its dimensions are those of
            the mesh (default: None).
        mesh_dim_names: a name for each dimension, to slice by; None for none.
        backend_override: None: ValueError for others, as the processor has one backend.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = DeviceMesh("cpu", [[0]], mesh_dim_names=("dp", "tp"))  # of 4 ranks [[0, 1], [2, 3]]
    >>> mesh["tp"].size(), mesh.ndim
    (1, 2)
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
        backend_override: Any = None,
        _groups: list[Any] | None = None,
        _root: DeviceMesh | None = None,
    ) -> None:
        _check_device(device_type)
        if backend_override is not None:
            raise ValueError(
                "backend_override: the groups of a mesh have the default group's backends"
            )
        self.device_type = device_type
        ranks = mesh if isinstance(mesh, Tensor) else taeda.tensor(mesh, dtype=taeda.int64)
        self.mesh = ranks.to(taeda.int64)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._root = _root
        self._flattened: dict[str, DeviceMesh] = {}
        self._specs: dict[Any, Any] = {}  # how tensors lie on it, each made once
        self._most_specs = 10_000  # before those are dropped that no tensor has
        self._plans: dict[Any, Any] = {}  # how operators of them are computed
        self._in_step = False  # do the ranks draw the same numbers?
        self._key: Any = None
        _check_names(self.mesh_dim_names, self.mesh.ndim)
        if not is_initialized():
            _begin_world(device_type)
        flat = self.mesh.flatten().tolist()
        if len(set(flat)) < len(flat):
            raise RuntimeError(f"a rank comes twice in the mesh {self.mesh.tolist()}")
        if any(not 0 <= rank < get_world_size() for rank in flat):
            raise RuntimeError(
                f"the mesh {self.mesh.tolist()} has ranks outside of the world of {get_world_size()}"
            )
        places = (self.mesh == get_rank()).nonzero().tolist()
        # once: a thread beside the program, such as one that saves, may ask too
        self._coordinate: list[int] | None = places[0] if places else None
        _check_carried(device_type, _groups or [_default()])
        self._groups = self._make_groups() if _groups is None else _groups

    def _make_groups(self) -> list[Any]:
        """Mine along each dimension; None outside of the mesh."""
        whole = list(range(get_world_size()))
        mine: list[Any] = []
        for dim in range(self.mesh.ndim):
            found = None
            for ranks in self._lines(dim):
                if ranks == whole:
                    group = _default()
                else:
                    group = new_group(ranks, sort_ranks=False, group_desc=f"mesh dimension {dim}")
                if get_rank() in ranks:
                    found = group
            mine.append(found)
        return mine

    def _lines(self, dim: int) -> list[list[int]]:
        return self.mesh.movedim(dim, -1).reshape(-1, self.mesh.shape[dim]).tolist()

    # ---- facts ----

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return self.mesh.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many ranks there are, along one dimension or in all."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.shape[mesh_dim]

    def __repr__(self) -> str:
        names = "" if self.mesh_dim_names is None else f", mesh_dim_names={self.mesh_dim_names}"
        return f"DeviceMesh({self.device_type!r}, {self.mesh.tolist()}{names})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeviceMesh):
            return NotImplemented
        return self is other or self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def _facts(self) -> Any:
        """What makes two meshes the same."""
        if self._key is None:
            ranks = tuple(self.mesh.flatten().tolist())
            self._key = self.device_type, self.mesh_dim_names, ranks, self.shape
        return self._key

    def get_rank(self) -> int:
        """This process's rank in the default group."""
        return get_rank()

    def get_coordinate(self) -> list[int] | None:
        """Where this process is in the mesh; None outside of it."""
        return None if self._coordinate is None else list(self._coordinate)

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """This process's place along one dimension. RuntimeError outside of the mesh."""
        coordinate = self.get_coordinate()
        if coordinate is None:
            raise RuntimeError(f"rank {get_rank()} is not in {self}")
        return coordinate[self._dim(mesh_dim)]

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The group of this process's line along one dimension. RuntimeError without one."""
        if isinstance(mesh_dim, str) and mesh_dim in self._flattened:
            return self._flattened[mesh_dim].get_group()
        group = self._groups[self._dim(mesh_dim)]
        if group is None:
            raise RuntimeError(f"rank {get_rank()} is not in {self}")
        return group

    def get_all_groups(self) -> list[ProcessGroup]:
        """The groups of this process along all dimensions."""
        return [self.get_group(dim) for dim in range(self.ndim)]

    def _dim(self, dim: int | str | None) -> int:
        if dim is None:
            if self.ndim != 1:
                raise RuntimeError(
                    f"{self} has {self.ndim} dimensions: say which one, by number or name"
                )
            return 0
        if isinstance(dim, str):
            if self.mesh_dim_names is None:
                raise RuntimeError(f"{self} has no names of dimensions")
            if dim not in self.mesh_dim_names:
                raise KeyError(f"no dimension {dim!r}; there are {', '.join(self.mesh_dim_names)}")
            return self.mesh_dim_names.index(dim)
        if not -self.ndim <= dim < self.ndim:
            raise IndexError(f"dimension {dim} is outside of a mesh of {self.ndim}")
        return dim % self.ndim

    # ---- other meshes ----

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        if self.mesh_dim_names is None:
            raise RuntimeError(
                "a mesh is sliced by names, and this one has none: give mesh_dim_names"
            )
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if len(wanted) == 1 and wanted[0] in self._flattened:
            return self._flattened[wanted[0]]
        if len(set(wanted)) < len(wanted):
            raise KeyError(f"a name comes twice in {wanted}")
        dims = [self._dim(name) for name in wanted]
        if wanted == self.mesh_dim_names:
            return self
        place = self.get_coordinate() or [0] * self.ndim
        others = [dim for dim in range(self.ndim) if dim not in dims]
        part = self.mesh.permute(*others, *dims)
        for dim in others:
            part = part[place[dim]]
        groups = [self._groups[dim] for dim in dims]
        return DeviceMesh(
            self.device_type,
            part.contiguous(),
            mesh_dim_names=wanted,
            _groups=groups,
            _root=self._root or self,
        )

    def _flatten(self, mesh_dim_name: str | None = None) -> DeviceMesh:
        """One dimension instead of several, with a group of its own; every process of the root mesh
        calls it.
        """
        root = self._root or self
        if mesh_dim_name is None:
            if self.mesh_dim_names is None:
                raise RuntimeError("a mesh without names needs a name for the flattened dimension")
            mesh_dim_name = "_".join(self.mesh_dim_names)
        if mesh_dim_name in root._flattened:
            return root._flattened[mesh_dim_name]
        if self.ndim == 1:
            return self
        mine = None
        for ranks in self._all_slices(root):
            group = new_group(ranks, sort_ranks=False, group_desc=mesh_dim_name)
            if get_rank() in ranks:
                mine = group
        flat = DeviceMesh(
            self.device_type,
            self.mesh.flatten(),
            mesh_dim_names=(mesh_dim_name,),
            _groups=[mine],
            _root=root,
        )
        root._flattened[mesh_dim_name] = flat
        return flat

    def _all_slices(self, root: DeviceMesh) -> list[list[int]]:
        """This slice's ranks and those of its siblings, so that all processes make the groups in
        one order.
        """
        if root is self or root.mesh_dim_names is None or self.mesh_dim_names is None:
            return [self.mesh.flatten().tolist()]
        dims = [root._dim(name) for name in self.mesh_dim_names]
        others = [dim for dim in range(root.ndim) if dim not in dims]
        return root.mesh.permute(*others, *dims).reshape(-1, self.mesh.numel()).tolist()

    @staticmethod
    def from_group(
        group: ProcessGroup | list[ProcessGroup],
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
    ) -> DeviceMesh:
        """A mesh over groups that exist: one group, or one for each dimension of `mesh`.
        ValueError if they do not fit.
        """
        if isinstance(group, ProcessGroup):
            ranks = get_process_group_ranks(group)
            if mesh is not None and taeda.as_tensor(mesh).tolist() != ranks:
                raise ValueError(f"the mesh {mesh} is not the group's ranks {ranks}")
            return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, _groups=[group])
        groups = list(group)
        if not groups:
            raise ValueError("from_group needs at least one group")
        if mesh is None:
            raise ValueError("several groups need the mesh that they are the dimensions of")
        whole = taeda.as_tensor(mesh)
        if whole.ndim != len(groups):
            raise ValueError(
                f"a mesh of {whole.ndim} dimensions needs as many groups, not {len(groups)}"
            )
        return DeviceMesh(device_type, whole, mesh_dim_names=mesh_dim_names, _groups=groups)

    def __enter__(self) -> DeviceMesh:
        _current.held.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _current.held.pop()


def _default() -> Any:
    from ._groups.world import world

    return world().default


def _check_device(device_type: str) -> None:
    if not isinstance(device_type, str):
        raise TypeError(f"device_type is a str such as 'cpu', not {type(device_type).__name__}")
    if ":" in device_type:
        raise RuntimeError(
            f"device_type is a kind of device without a number, such as 'cpu', not {device_type!r}"
        )
    if device_type not in ("cpu", "cuda"):
        raise RuntimeError(
            f"device_type {device_type!r}: groups are on 'cpu' or 'cuda' in this release"
        )


def _begin_world(device_type: str) -> None:
    """The default group for a mesh. On GPUs this process takes the one of its place on the machine,
    unless the program has begun to use one.
    """
    if device_type == "cpu":
        init_process_group("gloo")
        return
    fresh = not taeda.cuda.is_initialized()
    init_process_group("cpu:gloo,cuda:nccl" if is_mpi_available() else "nccl")
    if fresh:
        here = int(os.environ.get("LOCAL_RANK", get_rank()))
        taeda.cuda.set_device(here % taeda.cuda.device_count())


def _check_carried(device_type: str, groups: Sequence[Any]) -> None:
    """RuntimeError for groups that carry no tensors of the mesh's device."""
    for group in groups:
        if group is not None and device_type not in group.device_types:
            raise RuntimeError(
                f"a mesh of {device_type!r} needs groups that carry its tensors, and {group!r} carries "
                f"those of the {' and '.join(group.device_types)}: begin with "
                f"init_process_group({_BACKENDS[device_type]!r})"
            )


def device_of(mesh: DeviceMesh) -> taeda.device:
    """Where this process's parts of tensors on the mesh lie: with GPUs on the current one."""
    if mesh.device_type == "cpu":
        return taeda.device("cpu")
    return taeda.device("cuda", taeda.cuda.current_device())


def _check_names(names: Sequence[str] | None, ndim: int) -> None:
    if names is None:
        return
    if len(names) != ndim:
        raise RuntimeError(f"{len(names)} names {tuple(names)} for {ndim} dimensions")
    if len(set(names)) < len(names):
        raise RuntimeError(f"a name comes twice in {tuple(names)}")


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """A mesh of the first ranks of the world, in order; makes the default group if there is none.
    For "cuda" that takes GPU number `LOCAL_RANK` of the machine, unless one is in use already.

    RuntimeError if the shape needs more ranks than there are, or the names do not fit.

    Args:
        device_type: the kind of device, "cpu".
        mesh_shape: the size of each dimension, or one number; at most as many ranks as the world
            has.
        mesh_dim_names: a name for each dimension, to slice by; None for none.
        backend_override: None: ValueError for others, as the processor has one backend.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    >>> mesh.shape, mesh.get_coordinate()
    ((1, 1), [0, 0])
    >>> dist.destroy_process_group()
    """
    _check_device(device_type)
    shape = (mesh_shape,) if isinstance(mesh_shape, int) else tuple(mesh_shape)
    _check_names(mesh_dim_names, len(shape))
    if not is_initialized():
        _begin_world(device_type)
    count = math.prod(shape)
    if count > get_world_size():
        raise RuntimeError(f"a mesh of {shape} needs {count} ranks; there are {get_world_size()}")
    ranks = taeda.arange(count).view(shape)
    return DeviceMesh(
        device_type, ranks, mesh_dim_names=mesh_dim_names, backend_override=backend_override
    )
