"""Where checkpoints are kept: what writers and readers have to do."""

from __future__ import annotations

import abc
import os
from dataclasses import dataclass
from typing import Any

from taeda.futures import Future

from .metadata import Metadata, MetadataIndex, StorageMeta
from .planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner

__all__ = ["StorageReader", "StorageWriter", "WriteResult"]

Place = str | os.PathLike[str]


@dataclass(frozen=True)
class WriteResult:
    """An item that was written. `storage_data` is plain data: it goes to the coordinator.

    >>> WriteResult(MetadataIndex("weight", [0]), size_in_bytes=8).size_in_bytes
    8
    """

    index: MetadataIndex
    size_in_bytes: int
    storage_data: Any = None


class StorageWriter(abc.ABC):
    """Writes a checkpoint. Methods are called in the order in which they stand here.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> class Told(checkpoint.FileSystemWriter):  # a writer of one's own, from that of folders
    ...     def finish(self, metadata, results):
    ...         super().finish(metadata, results)
    ...         print("written:", *metadata.state_dict_metadata)
    >>> writer = Told(tempfile.mkdtemp())
    >>> _ = checkpoint.save({"weight": taeda.ones(2)}, storage_writer=writer)
    written: weight
    """

    @abc.abstractmethod
    def reset(self, checkpoint_id: Place | None = None) -> None:
        """A save begins; None: to the place that it was made with."""

    @abc.abstractmethod
    def set_up_storage_writer(self, is_coordinator: bool) -> None:
        """Called on every rank."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Called on every rank."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Called on the coordinator."""

    @abc.abstractmethod
    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Write what this rank's plan says."""

    @abc.abstractmethod
    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """All ranks have written: make it a checkpoint. Called on the coordinator."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: Place) -> bool:
        """Can it write there?"""

    def storage_meta(self) -> StorageMeta | None:
        """Which checkpoint is written."""
        return None


class StorageReader(abc.ABC):
    """Reads a checkpoint. Methods are called in the order in which they stand here.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> class Told(checkpoint.FileSystemReader):  # a reader of one's own, from that of folders
    ...     def read_data(self, plan, planner):
    ...         print("read:", *(item.dest_index.fqn for item in plan.items))
    ...         return super().read_data(plan, planner)
    >>> folder = tempfile.mkdtemp()
    >>> _ = checkpoint.save({"weight": taeda.ones(2), "epoch": 4}, checkpoint_id=folder)
    >>> checkpoint.load({"weight": taeda.zeros(2)}, storage_reader=Told(folder))
    read: weight
    """

    @abc.abstractmethod
    def reset(self, checkpoint_id: Place | None = None) -> None:
        """A load begins; None: from the place that it was made with."""

    @abc.abstractmethod
    def read_metadata(self) -> Metadata:
        """What the checkpoint says of itself. Called on every rank."""

    @abc.abstractmethod
    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool) -> None:
        """Called on every rank."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Called on every rank."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """Called on the coordinator."""

    @abc.abstractmethod
    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read what this rank's plan says."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: Place) -> bool:
        """Can it read from there?"""
