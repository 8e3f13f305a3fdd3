"""From checkpoints of several ranks to single files, and back."""

from __future__ import annotations

import os
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
from .state_dict_loader import load
from .state_dict_saver import save
from .storage import Place, StorageReader

__all__ = [
    "BroadcastingTorchSaveReader", "DynamicMetaLoadPlanner", "dcp_to_torch_save", "torch_save_to_dcp",
]  # fmt: skip


def dcp_to_torch_save(dcp_checkpoint_dir: Place, torch_save_path: Place) -> None:
    """Write what a checkpoint's folder holds as one file of `taeda.save`, on one process.

    Steps of names that are numbers become lists, as they were before a save. ValueError where they
    leave gaps.
    """
    metadata = FileSystemReader(dcp_checkpoint_dir).read_metadata()
    flat: dict[str, Any] = {
        name: None
        if isinstance(entry, BytesStorageMetadata)
        else taeda.empty(entry.size, dtype=entry.properties.dtype)
        for name, entry in metadata.state_dict_metadata.items()
    }
    planner = DefaultLoadPlanner(flatten_state_dict=False)
    load(flat, checkpoint_id=dcp_checkpoint_dir, planner=planner, no_dist=True)
    paths = metadata.planner_data or {}
    made: dict[Any, Any] = {}
    for name, value in flat.items():
        _put(made, [*paths.get(name, [name])], value)
    taeda.save(_listed(made), torch_save_path)


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
    """
    state = taeda.load(torch_save_path)
    if not isinstance(state, dict):
        raise TypeError(f"{os.fspath(torch_save_path)} holds a {type(state).__name__}, not a dict")
    save(state, checkpoint_id=dcp_checkpoint_dir, no_dist=True)


class DynamicMetaLoadPlanner(DefaultLoadPlanner):
    """Takes what a checkpoint holds from what is to be filled: for formats that do not say it."""

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
        if whole.numel() and group_of(None, False) is not None:
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
