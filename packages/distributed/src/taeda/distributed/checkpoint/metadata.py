"""What a checkpoint says of its entries: sizes, dtypes, and the boxes that they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "BytesStorageMetadata",
    "ChunkStorageMetadata",
    "Metadata",
    "MetadataIndex",
    "StorageMeta",
    "TensorProperties",
    "TensorStorageMetadata",
]


@dataclass(frozen=True)
class ChunkStorageMetadata:
    """A box of a tensor: where it begins, and its size, in each dimension.

    Args:
        offsets: where the box begins in each dimension.
        sizes: its size in each dimension.

    >>> box = ChunkStorageMetadata(taeda.Size([4, 0]), taeda.Size([4, 2]))  # rows 4 to 7
    >>> box.offsets, box.sizes
    (taeda.Size([4, 0]), taeda.Size([4, 2]))
    """

    offsets: taeda.Size
    sizes: taeda.Size


@dataclass
class TensorProperties:
    """What a tensor is, besides its size.

    >>> TensorProperties.create_from_tensor(taeda.ones(2, requires_grad=True))
    TensorProperties(dtype=taeda.float32, requires_grad=True)
    """

    dtype: taeda.dtype
    requires_grad: bool = False

    @staticmethod
    def create_from_tensor(tensor: Tensor) -> TensorProperties:
        """The properties of a tensor."""
        return TensorProperties(tensor.dtype, tensor.requires_grad)


@dataclass
class TensorStorageMetadata:
    """A tensor of a checkpoint; its boxes cover it without overlap.

    Args:
        properties: dtype and what else a tensor is.
        size: the shape of the whole.
        chunks: its boxes.

    >>> whole = ChunkStorageMetadata(taeda.Size([0]), taeda.Size([2]))
    >>> entry = TensorStorageMetadata(TensorProperties(taeda.float32), taeda.Size([2]), [whole])
    >>> entry.size, len(entry.chunks)
    (taeda.Size([2]), 1)
    """

    properties: TensorProperties
    size: taeda.Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """An entry that is no tensor.

    >>> Metadata({"epoch": BytesStorageMetadata()}).state_dict_metadata
    {'epoch': BytesStorageMetadata()}
    """


@dataclass(frozen=True)
class MetadataIndex:
    """The name of an entry; for a box of a tensor also its offset.

    Args:
        fqn: the name of the entry.
        offset: where a box begins; None for an entry of one piece.
        index: the number of the box among its tensor's, as a hint; no part of what is compared
            (default: None).

    >>> MetadataIndex("weight", [4, 0], index=1) == MetadataIndex("weight", [4, 0])
    True
    """

    fqn: str
    offset: taeda.Size | None = None
    index: int | None = field(default=None, compare=False)

    def __init__(
        self, fqn: str, offset: Sequence[int] | None = None, index: int | None = None
    ) -> None:
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "offset", None if offset is None else taeda.Size(offset))
        object.__setattr__(self, "index", index)


@dataclass
class StorageMeta:
    """Which checkpoint this is: its place, and the numbers of the save and of the load.

    >>> StorageMeta("/runs/1", save_id="3")
    StorageMeta(checkpoint_id='/runs/1', save_id='3', load_id=None)
    """

    checkpoint_id: Any = None
    save_id: str | None = None
    load_id: str | None = None


@dataclass
class Metadata:
    """All entries of a checkpoint, what its planner kept, and where its storage has the bytes.

    Args:
        state_dict_metadata: what each entry is, by name.
        planner_data: what the planner kept, such as the path of each name in nested dicts
            (default: None).
        storage_data: where the storage has the bytes of each box (default: None).
        storage_meta: which checkpoint this is; None where the storage does not say.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> folder = tempfile.mkdtemp()
    >>> _ = checkpoint.save({"weight": taeda.ones(2, 3), "epoch": 4}, checkpoint_id=folder)
    >>> metadata = checkpoint.FileSystemReader(folder).read_metadata()
    >>> metadata.state_dict_metadata["weight"].size
    taeda.Size([2, 3])
    """

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
