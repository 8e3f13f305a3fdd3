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
    """Is it a tensor, a box of one, or no tensor?

    >>> [kind.name for kind in WriteItemType]
    ['TENSOR', 'SHARD', 'BYTE_IO']
    """

    TENSOR = auto()
    SHARD = auto()
    BYTE_IO = auto()


class LoadItemType(Enum):
    """Is it a tensor, or no tensor?

    >>> [kind.name for kind in LoadItemType]
    ['TENSOR', 'BYTE_IO']
    """

    TENSOR = auto()
    BYTE_IO = auto()


@dataclass(frozen=True)
class TensorWriteData:
    """The box that is written, and the tensor that it is a box of.

    >>> upper = ChunkStorageMetadata(taeda.Size([0, 0]), taeda.Size([2, 3]))
    >>> data = TensorWriteData(upper, TensorProperties(taeda.float32), taeda.Size([4, 3]))
    >>> data.chunk.sizes, data.size
    (taeda.Size([2, 3]), taeda.Size([4, 3]))
    """

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

    >>> box = ChunkStorageMetadata(taeda.Size([0, 0]), taeda.Size([2, 3]))
    >>> data = TensorWriteData(box, TensorProperties(taeda.float32), taeda.Size([4, 3]))
    >>> WriteItem(MetadataIndex("weight", [0, 0]), WriteItemType.SHARD, data).tensor_storage_size()
    24
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

    >>> name, zero = MetadataIndex("weight", [0]), taeda.Size([0])
    >>> item = ReadItem(LoadItemType.TENSOR, name, zero, name, zero, taeda.Size([2]))
    >>> item.storage_index.fqn, item.lengths
    ('weight', taeda.Size([2]))
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
        storage_data: what the storage adds (default: None).
        planner_data: what the planner adds (default: None).

    >>> plan = SavePlan([WriteItem(MetadataIndex("epoch"), WriteItemType.BYTE_IO)])
    >>> [item.index.fqn for item in plan.items]
    ['epoch']
    """

    items: list[WriteItem]
    storage_data: Any = None
    planner_data: Any = None


@dataclass
class LoadPlan:
    """What one rank reads. `storage_data` and `planner_data` are plain data: they go to other ranks.

    Args:
        items: what is read.
        storage_data: what the storage adds (default: None).
        planner_data: what the planner adds (default: None).

    >>> LoadPlan().items
    []
    """

    items: list[ReadItem] = field(default_factory=list)
    storage_data: Any = None
    planner_data: Any = None


class SavePlanner(abc.ABC):
    """Decides what is written. Methods are called in the order in which they stand here.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> class Halved(checkpoint.DefaultSavePlanner):  # one's own, from the default one
    ...     def resolve_data(self, write_item):
    ...         return super().resolve_data(write_item) / 2
    >>> folder, got = tempfile.mkdtemp(), {"weight": taeda.zeros(2)}
    >>> _ = checkpoint.save({"weight": taeda.ones(2)}, checkpoint_id=folder, planner=Halved())
    >>> checkpoint.load(got, checkpoint_id=folder)
    >>> got
    {'weight': tensor([0.5000, 0.5000])}
    """

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
    """Decides what is read, and where to. Methods are called in the order in which they stand here.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> class Doubled(checkpoint.DefaultLoadPlanner):  # one's own, from the default one
    ...     def commit_tensor(self, read_item, tensor):
    ...         super().commit_tensor(read_item, tensor.mul_(2))
    >>> folder, got = tempfile.mkdtemp(), {"weight": taeda.zeros(2)}
    >>> _ = checkpoint.save({"weight": taeda.ones(2)}, checkpoint_id=folder)
    >>> checkpoint.load(got, checkpoint_id=folder, planner=Doubled())
    >>> got
    {'weight': tensor([2., 2.])}
    """

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
