"""Plans, results and metadata as plain data, to be sent as JSON. Nothing that arrives is unpickled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import taeda

from .metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from .planner import (
    LoadItemType,
    LoadPlan,
    ReadItem,
    SavePlan,
    TensorWriteData,
    WriteItem,
    WriteItemType,
)
from .storage import WriteResult

__all__ = [
    "dtype_named",
    "entries_from",
    "entries_to",
    "load_plan_from",
    "load_plan_to",
    "results_from",
    "results_to",
    "save_plan_from",
    "save_plan_to",
]


def dtype_named(name: Any) -> taeda.dtype:
    """The dtype `float32` for its name. ValueError for what is none."""
    found = getattr(taeda, name, None) if isinstance(name, str) else None
    if not isinstance(found, taeda.dtype):
        raise ValueError(f"{name!r:.50} is no dtype")
    return found


def _name_of(dtype: taeda.dtype) -> str:
    return str(dtype).rpartition(".")[2]


def _counts(value: Any) -> taeda.Size:
    """A list of whole numbers of at least 0. ValueError for anything else."""
    if not isinstance(value, list) or any(
        type(n) is not int or not 0 <= n < 1 << 62 for n in value
    ):
        raise ValueError(f"{value!r:.50} is no list of sizes")
    return taeda.Size(value)


def _index_to(index: MetadataIndex) -> list[Any]:
    return [index.fqn, None if index.offset is None else list(index.offset), index.index]


def _index_from(data: Any) -> MetadataIndex:
    name, offset, number = data
    return MetadataIndex(name, offset, number)


# ---- plans ----


def _item_to(item: WriteItem) -> list[Any]:
    index, data = _index_to(item.index), item.tensor_data
    if data is None:
        return [index, item.type.name]
    facts = [_name_of(data.properties.dtype), data.properties.requires_grad, list(data.size)]
    return [index, item.type.name, list(data.chunk.offsets), list(data.chunk.sizes), *facts]


def _item_from(data: list[Any]) -> WriteItem:
    index, kind = _index_from(data[0]), WriteItemType[data[1]]
    if len(data) == 2:
        return WriteItem(index, kind)
    offsets, sizes, dtype, grad, size = data[2:]
    box = ChunkStorageMetadata(taeda.Size(offsets), taeda.Size(sizes))
    properties = TensorProperties(dtype_named(dtype), grad)
    return WriteItem(index, kind, TensorWriteData(box, properties, taeda.Size(size)))


def save_plan_to(plan: SavePlan) -> list[Any]:
    """A plan as plain data."""
    return [[_item_to(item) for item in plan.items], plan.storage_data, plan.planner_data]


def save_plan_from(data: list[Any]) -> SavePlan:
    """The plan again."""
    return SavePlan([_item_from(item) for item in data[0]], data[1], data[2])


def _read_to(item: ReadItem) -> list[Any]:
    counts = [list(item.dest_offsets), list(item.storage_offsets), list(item.lengths)]
    return [item.type.name, _index_to(item.dest_index), _index_to(item.storage_index), *counts]


def _read_from(data: list[Any]) -> ReadItem:
    kind, dest, stored = LoadItemType[data[0]], _index_from(data[1]), _index_from(data[2])
    to, at, lengths = (taeda.Size(counts) for counts in data[3:])
    return ReadItem(kind, dest, to, stored, at, lengths)


def load_plan_to(plan: LoadPlan) -> list[Any]:
    """A plan as plain data."""
    return [[_read_to(item) for item in plan.items], plan.storage_data, plan.planner_data]


def load_plan_from(data: list[Any]) -> LoadPlan:
    """The plan again."""
    return LoadPlan([_read_from(item) for item in data[0]], data[1], data[2])


def results_to(results: Iterable[WriteResult]) -> list[Any]:
    """What was written, as plain data."""
    return [[_index_to(one.index), one.size_in_bytes, one.storage_data] for one in results]


def results_from(data: list[Any]) -> list[WriteResult]:
    """What was written."""
    return [WriteResult(_index_from(index), size, kept) for index, size, kept in data]


# ---- metadata ----


def entries_to(metadata: Metadata) -> dict[str, Any]:
    """The entries of a checkpoint as plain data: null for what is no tensor."""
    return {name: _entry_to(entry) for name, entry in metadata.state_dict_metadata.items()}


def _entry_to(entry: Any) -> Any:
    if isinstance(entry, BytesStorageMetadata):
        return None
    boxes = [[list(box.offsets), list(box.sizes)] for box in entry.chunks]
    facts = {"dtype": _name_of(entry.properties.dtype), "size": list(entry.size), "boxes": boxes}
    return facts | ({"requires_grad": True} if entry.properties.requires_grad else {})


def entries_from(data: Any) -> dict[str, TensorStorageMetadata | BytesStorageMetadata]:
    """The entries. ValueError, TypeError or KeyError for data that is something else."""
    return {name: _entry_from(entry) for name, entry in data.items()}


def _entry_from(data: Any) -> TensorStorageMetadata | BytesStorageMetadata:
    if data is None:
        return BytesStorageMetadata()
    properties = TensorProperties(dtype_named(data["dtype"]), data.get("requires_grad") is True)
    boxes = [ChunkStorageMetadata(_counts(at), _counts(size)) for at, size in data["boxes"]]
    return TensorStorageMetadata(properties, _counts(data["size"]), boxes)
