"""Plans: what each rank writes and reads, and who makes them."""

from __future__ import annotations

import abc
import io
import math
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import taeda
from taeda import Tensor

from .metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
)

__all__ = [
    "LoadItemType",
    "LoadPlan",
    "LoadPlanner",
    "ReadItem",
    "SavePlan",
    "SavePlanner",
    "TensorWriteData",
    "WriteItem",
    "WriteItemType",
]


class WriteItemType(Enum):
    """Is it a tensor, a box of one, or no tensor?"""

    TENSOR = auto()
    SHARD = auto()
    BYTE_IO = auto()


class LoadItemType(Enum):
    """Is it a tensor, or no tensor?"""

    TENSOR = auto()
    BYTE_IO = auto()


@dataclass(frozen=True)
class TensorWriteData:
    """The box that is written, and the tensor that it is a box of."""

    chunk: ChunkStorageMetadata
    properties: TensorProperties
    size: taeda.Size


@dataclass(frozen=True)
class WriteItem:
    """One thing to write.

    Args:
        index: the name, and for a box of a tensor where it begins.
        type: a tensor, a box of one, or no tensor.
        tensor_data: the box and its tensor; None for what is no tensor.
    """

    index: MetadataIndex
    type: WriteItemType
    tensor_data: TensorWriteData | None = None

    def tensor_storage_size(self) -> int | None:
        """How many bytes it takes; None for what is no tensor."""
        if self.tensor_data is None:
            return None
        items = math.prod(self.tensor_data.chunk.sizes)
        return items * self.tensor_data.properties.dtype.itemsize


@dataclass(frozen=True)
class ReadItem:
    """One thing to read: `lengths` elements of a stored box, and where they go in the wanted one.

    Args:
        type: a tensor, or no tensor.
        dest_index: the entry that is wanted.
        dest_offsets: where in its box the elements go.
        storage_index: the entry that is stored.
        storage_offsets: where in its box they begin.
        lengths: how many of them, in each dimension.
    """

    type: LoadItemType
    dest_index: MetadataIndex
    dest_offsets: taeda.Size
    storage_index: MetadataIndex
    storage_offsets: taeda.Size
    lengths: taeda.Size


@dataclass
class SavePlan:
    """What one rank writes. `storage_data` and `planner_data` are plain data: they go to other ranks.

    Args:
        items: what is written, in this order.
        storage_data: what the storage adds.
        planner_data: what the planner adds.
    """

    items: list[WriteItem]
    storage_data: Any = None
    planner_data: Any = None


@dataclass
class LoadPlan:
    """What one rank reads. `storage_data` and `planner_data` are plain data: they go to other ranks.

    Args:
        items: what is read.
        storage_data: what the storage adds.
        planner_data: what the planner adds.
    """

    items: list[ReadItem] = field(default_factory=list)
    storage_data: Any = None
    planner_data: Any = None


class SavePlanner(abc.ABC):
    """Decides what is written. Methods are called in the order in which they stand here."""

    @abc.abstractmethod
    def set_up_planner(
        self,
        state_dict: dict[str, Any],
        storage_meta: StorageMeta | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """Take what is saved. Called on every rank."""

    @abc.abstractmethod
    def create_local_plan(self) -> SavePlan:
        """What this rank could write. Called on every rank."""

    @abc.abstractmethod
    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """What each rank writes, and what is in the checkpoint. Called on the coordinator."""

    @abc.abstractmethod
    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """Take this rank's part of the global plan. Called on every rank."""

    @abc.abstractmethod
    def resolve_data(self, write_item: WriteItem) -> Tensor | io.BytesIO:
        """The values of an item. May be called more than once, and from any thread."""


class LoadPlanner(abc.ABC):
    """Decides what is read, and where to. Methods are called in the order in which they stand here."""

    @abc.abstractmethod
    def set_up_planner(
        self,
        state_dict: dict[str, Any],
        metadata: Metadata | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """Take what is to be filled. Called on every rank."""

    @abc.abstractmethod
    def create_local_plan(self) -> LoadPlan:
        """What this rank wants. Called on every rank."""

    @abc.abstractmethod
    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """What each rank reads. Called on the coordinator."""

    @abc.abstractmethod
    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        """Take this rank's part of the global plan. Called on every rank."""

    @abc.abstractmethod
    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        """Take an entry that is no tensor."""

    def resolve_bytes(self, read_item: ReadItem) -> io.BytesIO:
        """Where to put the bytes of an entry that is no tensor."""
        return io.BytesIO()

    @abc.abstractmethod
    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        """The tensor to read into: it has the size `lengths`."""

    @abc.abstractmethod
    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """`tensor`, from `resolve_tensor`, has its values."""
