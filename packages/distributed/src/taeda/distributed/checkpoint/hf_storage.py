"""Folders of safetensors files as HuggingFace's tools write them: whole tensors, names as they are."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.files import atomic_write
from taeda.futures import Future
from taeda.serialization import FormatError

from ._files import Piece, write_pieces
from ._places import folder_of
from .filesystem import _done
from .metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from .planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner
from .storage import Place, StorageReader, StorageWriter, WriteResult

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]

INDEX, SINGLE = "model.safetensors.index.json", "model.safetensors"


class HuggingFaceStorageReader(StorageReader):
    """Reads a folder with `model.safetensors`, or several files and their index; tensors only.

    Of sharded tensors every rank reads its part of the mapped file.

    Args:
        path: the folder.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> folder, got = tempfile.mkdtemp(), {"weight": taeda.zeros(2)}
    >>> writer = HuggingFaceStorageWriter(folder)
    >>> _ = checkpoint.save({"weight": taeda.ones(2)}, storage_writer=writer)
    >>> checkpoint.load(got, storage_reader=HuggingFaceStorageReader(folder))
    >>> got
    {'weight': tensor([1., 1.])}
    """

    def __init__(self, path: Place) -> None:
        self.path = folder_of(path)
        self._files: dict[str, dict[str, Tensor]] = {}
        self._where: dict[str, str] = {}

    def reset(self, checkpoint_id: Place | None = None) -> None:
        """A load begins."""
        self.path = self.path if checkpoint_id is None else folder_of(checkpoint_id)
        self._files, self._where = {}, {}

    def read_metadata(self) -> Metadata:
        """The names, dtypes and sizes of the tensors. FileNotFoundError without files, FormatError for
        an index that does not fit them.
        """
        self._where = self._places()
        entries: dict[str, Any] = {}
        for name, file in self._where.items():
            tensor = self._file(file).get(name)
            if tensor is None:
                raise FormatError(f"{self.path / file} has no {name!r}, which {INDEX} says")
            chunk = ChunkStorageMetadata(taeda.Size([0] * tensor.ndim), tensor.shape)
            properties = TensorProperties(tensor.dtype)
            entries[name] = TensorStorageMetadata(properties, tensor.shape, [chunk])
        return Metadata(entries, storage_meta=StorageMeta(str(self.path), save_id="safetensors"))

    def _places(self) -> dict[str, str]:
        """The file of each name."""
        index = self.path / INDEX
        if index.exists():
            try:
                said = json.loads(index.read_bytes())["weight_map"]
            except (ValueError, KeyError, TypeError) as error:
                raise FormatError(f"{index} is no index of safetensors files: {error}") from error
            for name, file in said.items():
                if not isinstance(file, str) or Path(file).name != file:
                    raise FormatError(
                        f"{index}: {name} lies in {file!r:.80}, outside of the folder"
                    )
            return dict(said)
        files = sorted(path.name for path in self.path.glob("*.safetensors"))
        if not files:
            raise FileNotFoundError(f"{self.path} has no safetensors file")
        return {name: file for file in files for name in self._file(file)}

    def _file(self, name: str) -> dict[str, Tensor]:
        if name not in self._files:
            self._files[name] = taeda.load(self.path / name, mmap=True)
        return self._files[name]

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool) -> None:
        """Nothing is to be kept."""

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Nothing is to be prepared."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """Nothing is to be prepared."""
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read what the plan says."""
        return _done(lambda: self._read(plan, planner))

    def _read(self, plan: LoadPlan, planner: LoadPlanner) -> None:
        for item in plan.items:
            name = item.storage_index.fqn
            whole = self._file(self._where[name])[name]
            target = planner.resolve_tensor(item).detach()
            places = zip(item.storage_offsets, item.lengths, strict=True)
            with taeda.no_grad():
                target.copy_(whole[tuple(slice(begin, begin + size) for begin, size in places)])
            planner.commit_tensor(item, target)
        self._files = {}

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Place) -> bool:
        """Is it the name of a folder with safetensors files?"""
        return Path(checkpoint_id).is_dir() and any(Path(checkpoint_id).glob("*.safetensors"))


class HuggingFaceStorageWriter(StorageWriter):
    """Writes whole tensors as safetensors files, one of each rank that has some, and their index last.

    NotImplementedError for shards: write those with `save` and a folder, or gather them first
    (`StateDictOptions(full_state_dict=True)`); TypeError for what is no tensor.

    Args:
        path: the folder; made if it is not there.
        sync_files: True, the default, returns when the bytes are on the disk.

    >>> import os, tempfile
    >>> from taeda.distributed import checkpoint
    >>> folder = tempfile.mkdtemp()
    >>> writer = HuggingFaceStorageWriter(folder, sync_files=False)
    >>> _ = checkpoint.save({"weight": taeda.ones(2)}, storage_writer=writer)
    >>> sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))
    ['model.safetensors']
    """

    def __init__(self, path: Place, *, sync_files: bool = True) -> None:
        self.path, self.sync_files = folder_of(path), sync_files

    def reset(self, checkpoint_id: Place | None = None) -> None:
        """A save begins."""
        self.path = self.path if checkpoint_id is None else folder_of(checkpoint_id)

    def set_up_storage_writer(self, is_coordinator: bool) -> None:
        """Nothing is to be kept."""

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Make the folder, and look at the items."""
        for item in plan.items:
            data, name = item.tensor_data, item.index.fqn
            if data is None:
                raise TypeError(f"{name} is no tensor, and safetensors files hold tensors only")
            if tuple(data.chunk.sizes) != tuple(data.size):
                raise NotImplementedError(
                    f"{name} is a shard: gather it first, with StateDictOptions(full_state_dict=True)"
                )
        self.path.mkdir(parents=True, exist_ok=True)
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Give every rank the name of its file."""
        writing = [plan for plan in plans if plan.items]
        for number, plan in enumerate(writing, 1):
            several = f"model-{number:05}-of-{len(writing):05}.safetensors"
            plan.storage_data = SINGLE if len(writing) == 1 else several
        return plans

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Write this rank's file, if it has anything to write."""
        return _done(lambda: self._write(plan, planner))

    def _write(self, plan: SavePlan, planner: SavePlanner) -> list[WriteResult]:
        if not plan.items:
            return []
        pieces = [
            Piece(
                item.index.fqn,
                item.tensor_data.properties.dtype,
                item.tensor_data.size,
                functools.partial(planner.resolve_data, item),
            )
            for item in plan.items
            if item.tensor_data is not None
        ]
        sync = "full" if self.sync_files else "off"
        stored = write_pieces(self.path / plan.storage_data, pieces, sync)
        return [
            WriteResult(item.index, one.nbytes, [one.file, one.nbytes])
            for item, one in zip(plan.items, stored, strict=True)
        ]

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Write the index, where there are several files."""
        rows = [result for part in results for result in part]
        metadata.storage_data = {MetadataIndex(r.index.fqn): r.storage_data[0] for r in rows}
        files = set(metadata.storage_data.values())
        index = self.path / INDEX
        if len(files) > 1:
            told = {
                "metadata": {"total_size": sum(r.storage_data[1] for r in rows)},
                "weight_map": {r.index.fqn: r.storage_data[0] for r in rows},
            }
            with atomic_write(index) as file:
                file.write(json.dumps(told, indent=2, sort_keys=True).encode())
        else:
            index.unlink(missing_ok=True)
        for path in self.path.glob("model*.safetensors"):
            if path.name not in files:
                path.unlink()

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Place) -> bool:
        """Is it the name of a folder?"""
        return "://" not in str(checkpoint_id)
