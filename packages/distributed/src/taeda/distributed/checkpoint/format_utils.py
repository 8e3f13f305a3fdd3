"""From checkpoints of several ranks to single files, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor
from taeda.futures import Future

from ._ways import group_of
from .default_planner import DefaultLoadPlanner
from .filesystem import FileSystemReader
from .metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    TensorProperties,
    TensorStorageMetadata,
)
from .planner import LoadPlan, LoadPlanner
from .state_dict_loader import _load_state_dict
from .state_dict_saver import save
from .storage import Place, StorageReader

__all__ = [
    "BroadcastingTorchSaveReader", "DynamicMetaLoadPlanner", "dcp_to_torch_save", "torch_save_to_dcp",
]  # fmt: skip


def dcp_to_torch_save(dcp_checkpoint_dir: Place, torch_save_path: Place) -> None:
    """Write what a checkpoint's folder holds as one file of `taeda.save`, on one process.

    Steps of names that are numbers become lists, as they were before a save. ValueError where they
    leave gaps.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> file = os.path.join(folder, "whole.pt")
    >>> _ = save({"model": {"weight": taeda.ones(2)}}, checkpoint_id=folder)
    >>> dcp_to_torch_save(folder, file)
    >>> taeda.load(file)
    {'model': {'weight': tensor([1., 1.])}}
    """
    state: dict[str, Any] = {}
    reader = FileSystemReader(dcp_checkpoint_dir)
    _load_state_dict(state, reader, no_dist=True, planner=_EmptyStateDictLoadPlanner())
    taeda.save(state, torch_save_path)


class _EmptyStateDictLoadPlanner(DefaultLoadPlanner):
    """Fills an empty dict with what a checkpoint holds, whole, in the dicts and lists it was saved in.

    `keys` are names, or beginnings of names up to a point: nothing else is read then; None reads all.
    ValueError for a dict that is not empty, and for lists with gaps. Its name is that by which libraries
    ask for it.
    """

    def __init__(
        self, keys: Iterable[str] | None = None, *, allow_partial_load: bool = False
    ) -> None:
        super().__init__(allow_partial_load=allow_partial_load)
        self.keys = None if keys is None else frozenset(keys)

    def set_up_planner(
        self,
        state_dict: dict[str, Any],
        metadata: Metadata | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """Make what is to be filled. RuntimeError without metadata."""
        if state_dict:
            raise ValueError(f"an empty dict is wanted, and this one has {sorted(state_dict)[:3]}")
        if metadata is None:
            raise RuntimeError("what a checkpoint holds is in its metadata, and there is none")
        paths = metadata.planner_data or {}
        made: dict[Any, Any] = {}
        self.original, self.metadata, self.is_coordinator = state_dict, metadata, is_coordinator
        for name, entry in metadata.state_dict_metadata.items():
            path = tuple(paths.get(name, (name,)))
            if self._is_wanted(name, path):
                self.state_dict[name], self.mappings[name] = _room_for(entry), path
                _put(made, [*path], self.state_dict[name])
        state_dict.update(_listed(made))

    def _is_wanted(self, name: str, path: tuple[str | int, ...]) -> bool:
        beginnings = (".".join(map(str, path[:n])) for n in range(1, len(path) + 1))
        return self.keys is None or name in self.keys or not self.keys.isdisjoint(beginnings)


def _room_for(entry: Any) -> Any:
    """A whole tensor to be filled, or None where an object goes."""
    if isinstance(entry, BytesStorageMetadata):
        return None
    return taeda.empty(entry.size, dtype=entry.properties.dtype)


def _put(made: dict[Any, Any], path: list[Any], value: Any) -> None:
    for step in path[:-1]:
        made = made.setdefault(step, {})
    made[path[-1]] = value


def _listed(value: Any) -> Any:
    """Dicts whose keys are numbers as lists."""
    if not isinstance(value, dict):
        return value
    if not value or not all(type(key) is int for key in value):
        return {key: _listed(inner) for key, inner in value.items()}
    if sorted(value) != list(range(len(value))):
        raise ValueError(f"a list has gaps: it has the places {sorted(value)}")
    return [_listed(value[key]) for key in range(len(value))]


def torch_save_to_dcp(torch_save_path: Place, dcp_checkpoint_dir: Place) -> None:
    """Write what a file of `taeda.save`, or of torch, holds as a checkpoint's folder, on one process.

    TypeError if it holds no dict.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> file = os.path.join(folder, "whole.pt")
    >>> taeda.save({"weight": taeda.ones(2)}, file)
    >>> torch_save_to_dcp(file, os.path.join(folder, "parts"))
    >>> list(FileSystemReader(os.path.join(folder, "parts")).read_metadata().state_dict_metadata)
    ['weight']
    """
    state = taeda.load(torch_save_path)
    if not isinstance(state, dict):
        raise TypeError(f"{os.fspath(torch_save_path)} holds a {type(state).__name__}, not a dict")
    save(state, checkpoint_id=dcp_checkpoint_dir, no_dist=True)


class DynamicMetaLoadPlanner(DefaultLoadPlanner):
    """Takes what a checkpoint holds from what is to be filled: for formats that do not say it.

    >>> planner = DynamicMetaLoadPlanner()
    >>> planner.set_up_planner({"weight": taeda.zeros(2)})
    >>> planner.metadata.state_dict_metadata["weight"].size  # no file was asked
    taeda.Size([2])
    """

    def set_up_planner(
        self,
        state_dict: dict[str, Any],
        metadata: Metadata | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """Take what is to be filled. RuntimeError for a value that is no tensor."""
        super().set_up_planner(state_dict, metadata, is_coordinator)
        entries: dict[str, Any] = {}
        for name, value in self.state_dict.items():
            if not isinstance(value, Tensor):
                raise RuntimeError(
                    f"{name} is a {type(value).__name__}, and only tensors are read from a single file"
                )
            chunk = ChunkStorageMetadata(taeda.Size([0] * value.ndim), value.shape)
            properties = TensorProperties.create_from_tensor(value)
            entries[name] = TensorStorageMetadata(properties, value.shape, [chunk])
        self.metadata = Metadata(entries)


class BroadcastingTorchSaveReader(StorageReader):
    """Reads a file of `taeda.save`, or of torch, on one rank, which sends each tensor to the others.

    For `load(..., planner=DynamicMetaLoadPlanner())`. Every rank keeps its part of each tensor.

    >>> import os, tempfile
    >>> from taeda.distributed import checkpoint
    >>> file, got = os.path.join(tempfile.mkdtemp(), "whole.pt"), {"weight": taeda.zeros(2)}
    >>> taeda.save({"weight": taeda.ones(2)}, file)
    >>> reader = BroadcastingTorchSaveReader(file)
    >>> checkpoint.load(got, storage_reader=reader, planner=DynamicMetaLoadPlanner())
    >>> got
    {'weight': tensor([1., 1.])}
    """

    def __init__(self, checkpoint_id: Place | None = None, coordinator_rank: int = 0) -> None:
        self.checkpoint_id, self.coordinator_rank = checkpoint_id, coordinator_rank
        self.is_coordinator = False

    def reset(self, checkpoint_id: Place | None = None) -> None:
        """A load begins."""
        self.checkpoint_id = self.checkpoint_id if checkpoint_id is None else checkpoint_id

    def read_metadata(self) -> Metadata:
        """Nothing: the planner knows."""
        return Metadata({})

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool) -> None:
        """Keep who reads. RuntimeError without a file."""
        self.is_coordinator = is_coordinator
        if self.checkpoint_id is None:
            raise RuntimeError(
                "BroadcastingTorchSaveReader needs checkpoint_id, the name of a file"
            )

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Nothing is to be prepared."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """Nothing is to be prepared."""
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read, send, and fill. KeyError for a name that the file does not have."""
        assert isinstance(planner, DefaultLoadPlanner)
        held = self._held(planner)
        for name, value in planner.state_dict.items():
            whole = self._whole(name, value, held)
            for item in plan.items:
                if item.dest_index.fqn != name:
                    continue
                target = planner.resolve_tensor(item).detach()
                places = zip(item.storage_offsets, item.lengths, strict=True)
                with taeda.no_grad():
                    target.copy_(whole[tuple(slice(b, b + size) for b, size in places)])
                planner.commit_tensor(item, target)
        made: Future[None] = Future()
        made.set_result(None)
        return made

    def _held(self, planner: DefaultLoadPlanner) -> dict[str, Tensor]:
        """The tensors of the file by name, on the rank that reads, after a look at all of them."""
        from .._objects import broadcast_object_list

        found: dict[str, Tensor] = {}
        wrong: list[Any] = [""]
        if self.is_coordinator:
            try:
                state = taeda.load(self.checkpoint_id or "")
                for name, path in planner.mappings.items():
                    found[name] = _at(state, path, name, planner.state_dict[name])
            except MemoryError:
                raise
            except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
                wrong = [f"{type(error).__name__}: {error}"]
        if group_of(None, False) is not None:
            broadcast_object_list(wrong, src=self.coordinator_rank)
        if wrong[0]:
            raise RuntimeError(f"{os.fspath(self.checkpoint_id or '')} cannot be read: {wrong[0]}")
        return found

    def _whole(self, name: str, value: Any, held: dict[str, Tensor]) -> Tensor:
        from .._collectives import broadcast

        if self.is_coordinator:
            whole = held.pop(name).to(value.dtype).contiguous()
        else:
            whole = taeda.empty(value.shape, dtype=value.dtype)
        group = group_of(None, False)
        if whole.numel() and group is not None:
            whole = whole.to(group.device)
            broadcast(whole, src=self.coordinator_rank)
        return whole

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Place) -> bool:
        """Is it the name of a file?"""
        return os.path.isfile(checkpoint_id)


def _at(state: Any, path: Any, name: str, wanted: Tensor) -> Tensor:
    for step in path:
        try:
            state = state[step]
        except (KeyError, IndexError, TypeError):
            raise KeyError(f"{name} is not in the file") from None
    if not isinstance(state, Tensor) or state.shape != wanted.shape:
        shape = tuple(state.shape) if isinstance(state, Tensor) else type(state).__name__
        raise ValueError(
            f"{name} is {shape} in the file, and {tuple(wanted.shape)} is to be filled"
        )
    return state.detach()
