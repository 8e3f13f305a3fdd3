"""Checkpoints in a folder: a file of each rank, and an index that makes them a checkpoint."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from typing import Any, TypeVar

import taeda
from taeda.futures import Future
from taeda.serialization import FormatError

from . import _index, _torch_folder
from ._files import Piece, Stored, read_box, read_bytes, write_pieces
from ._places import RemotePath, place_of
from .metadata import Metadata, MetadataIndex, StorageMeta, TensorStorageMetadata
from .planner import LoadItemType, LoadPlan, LoadPlanner, SavePlan, SavePlanner, WriteItem
from .staging import BlockingAsyncStager
from .storage import Place, StorageReader, StorageWriter, WriteResult

__all__ = ["FileSystemReader", "FileSystemWriter"]

T = TypeVar("T")


def _done(work: Callable[[], T]) -> Future[T]:
    """A future that has the result, or the error."""
    made: Future[T] = Future()
    try:
        made.set_result(work())
    except Exception as error:  # noqa: BLE001 - whoever waits gets it
        made.set_exception(error)
    return made


class FileSystemWriter(StorageWriter):
    """Writes into a folder, which all ranks see, or to an address that fsspec knows.

    A save replaces the folder's checkpoint at its end.
    Killed at any moment, the folder holds the former checkpoint or the new one, whole. With
    `sync_files=False` a loss of power may damage the new one (it is then refused by a load).
    `overwrite=False` refuses a folder that has a checkpoint.

    Args:
        path: the folder, made if it is not there, or an address such as `memory://run`.
        sync_files: True, the default, returns when the bytes are on the disk; without meaning for
            addresses.
        overwrite: True, the default, replaces a checkpoint in the folder; False refuses.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> writer = FileSystemWriter(tempfile.mkdtemp(), sync_files=False)
    >>> metadata = checkpoint.save({"weight": taeda.ones(2)}, storage_writer=writer)
    >>> metadata.state_dict_metadata["weight"].size
    taeda.Size([2])
    """

    def __init__(self, path: Place, *, sync_files: bool = True, overwrite: bool = True) -> None:
        self.path, self.sync_files, self.overwrite = place_of(path), sync_files, overwrite
        self.is_coordinator, self.number = False, 0

    def reset(self, checkpoint_id: Place | None = None) -> None:
        """A save begins."""
        self.path = self.path if checkpoint_id is None else place_of(checkpoint_id)
        self.number = 0

    def set_up_storage_writer(self, is_coordinator: bool) -> None:
        """Say who writes the index."""
        self.is_coordinator = is_coordinator

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Make the folder. FileExistsError for a checkpoint that is not to be replaced."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not self.overwrite and (self.path / _index.NAME).exists():
            raise FileExistsError(f"{self.path} holds a checkpoint, and overwrite is False")
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Give every rank the name of its file."""
        self.number = _index.save_number(self.path)
        for rank, plan in enumerate(plans):
            plan.storage_data = f"{self.number}-{rank}.safetensors"
        return plans

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Write this rank's file, if it has anything to write."""
        return _done(lambda: self._write(plan, planner))

    def _write(self, plan: SavePlan, planner: SavePlanner) -> list[WriteResult]:
        if not plan.items:
            return []
        pieces = [_piece(item, planner) for item in plan.items]
        sync = "full" if self.sync_files else "off"
        stored = write_pieces(self.path / plan.storage_data, pieces, sync)
        return [
            WriteResult(item.index, one.nbytes, [one.file, one.begin, one.nbytes, one.sums])
            for item, one in zip(plan.items, stored, strict=True)
        ]

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Write the index, then remove the files that it does not name."""
        metadata.storage_data = {
            result.index: Stored(*result.storage_data) for part in results for result in part
        }
        metadata.storage_meta = self.storage_meta()
        _index.write_index(self.path, self.number, metadata)
        used = {stored.file for stored in metadata.storage_data.values()}
        for path in self.path.iterdir():
            if _index.SHARD.fullmatch(path.name) and path.name not in used:
                with contextlib.suppress(OSError):  # it takes room, and the next save tries again
                    path.unlink()

    def stage(self, state_dict: dict[str, Any]) -> dict[str, Any]:
        """A copy of the state that nobody changes, for `async_save`."""
        return BlockingAsyncStager().stage(state_dict)

    def storage_meta(self) -> StorageMeta:
        """Which checkpoint is written."""
        return StorageMeta(str(self.path), save_id=str(self.number))

    @property
    def checkpoint_id(self) -> Place:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Place) -> bool:
        """Is it the name of a folder, or an address?"""
        return isinstance(checkpoint_id, (str, os.PathLike))


def _piece(item: WriteItem, planner: SavePlanner) -> Piece:
    data, name = item.tensor_data, item.index.fqn
    if data is None:
        made = planner.resolve_data(item)
        assert isinstance(made, io.BytesIO), f"{name}: a planner gives objects as bytes"
        return Piece(name, taeda.uint8, [made.getbuffer().nbytes], lambda: made)
    if tuple(data.chunk.sizes) != tuple(data.size):
        name += f"@{','.join(map(str, data.chunk.offsets))}"
    return Piece(name, data.properties.dtype, data.chunk.sizes, lambda: planner.resolve_data(item))


class FileSystemReader(StorageReader):
    """Reads from a folder. Of every file only the blocks of a MiB that are needed, which it checks.

    Args:
        path: the folder, or an address such as `memory://run`.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> folder, got = tempfile.mkdtemp(), {"weight": taeda.zeros(2)}
    >>> _ = checkpoint.save({"weight": taeda.ones(2)}, checkpoint_id=folder)
    >>> checkpoint.load(got, storage_reader=FileSystemReader(folder))
    >>> got
    {'weight': tensor([1., 1.])}
    """

    def __init__(self, path: Place) -> None:
        self.path = place_of(path)
        self.metadata: Metadata | None = None

    def reset(self, checkpoint_id: Place | None = None) -> None:
        """A load begins."""
        self.path = self.path if checkpoint_id is None else place_of(checkpoint_id)

    def read_metadata(self) -> Metadata:
        """The index. FileNotFoundError without one, FormatError for a damaged one."""
        if isinstance(self.path, RemotePath):
            pass  # torch's folders are read from this machine only
        elif not (self.path / _index.NAME).exists() and (self.path / _torch_folder.NAME).exists():
            return _torch_folder.read_torch_folder(self.path)
        number, metadata = _index.read_index(self.path)
        metadata.storage_meta = StorageMeta(str(self.path), save_id=str(number))
        return metadata

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool) -> None:
        """Keep where the bytes are."""
        self.metadata = metadata

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Nothing is to be prepared."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """Nothing is to be prepared."""
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read what the plan says, straight into the tensors where they are contiguous."""
        return _done(lambda: self._read(plan, planner))

    def _read(self, plan: LoadPlan, planner: LoadPlanner) -> None:
        if self.metadata is None:
            raise RuntimeError("the reader has no metadata: set_up_storage_reader comes first")
        for item in plan.items:
            stored, name = self.metadata.storage_data[item.storage_index], item.storage_index.fqn
            if isinstance(stored, tuple):
                self._read_torch(item, stored, name, planner)
                continue
            if item.type is LoadItemType.BYTE_IO:
                planner.load_bytes(item, io.BytesIO(read_bytes(self.path, stored, name)))
                continue
            target = planner.resolve_tensor(item).detach()
            shape = self._shape_of(item.storage_index)
            with taeda.no_grad():
                read_box(self.path, stored, name, shape, item.storage_offsets, target)
            planner.commit_tensor(item, target)

    def _read_torch(self, item: Any, stored: Any, name: str, planner: LoadPlanner) -> None:
        """A piece as torch wrote it."""
        assert not isinstance(self.path, RemotePath)
        data = _torch_folder.piece_of(self.path, stored, name)()
        if item.type is LoadItemType.BYTE_IO:
            planner.load_bytes(item, data)
            return
        piece = taeda.load(data)
        if not isinstance(piece, taeda.Tensor) or piece.shape != self._shape_of(item.storage_index):
            raise FormatError(
                f"{self.path / stored[0]}: {name} is not the tensor that {_torch_folder.NAME} says"
            )
        target = planner.resolve_tensor(item).detach()
        places = zip(item.storage_offsets, item.lengths, strict=True)
        with taeda.no_grad():
            target.copy_(piece[tuple(slice(begin, begin + size) for begin, size in places)])
        planner.commit_tensor(item, target)

    def _shape_of(self, index: MetadataIndex) -> taeda.Size:
        assert self.metadata is not None
        entry: Any = self.metadata.state_dict_metadata[index.fqn]
        assert isinstance(entry, TensorStorageMetadata)
        return next(box.sizes for box in entry.chunks if box.offsets == index.offset)

    @property
    def checkpoint_id(self) -> Place:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Place) -> bool:
        """Is it the name of a folder, or an address?"""
        return isinstance(checkpoint_id, (str, os.PathLike))
