"""The planners that `save` and `load` use: boxes of tensors by name, objects as data."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from typing import Any, cast

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core

from . import _boxes
from ._differences import check_entries
from ._flatten import Path, flatten, set_at
from .metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from .planner import (
    LoadItemType,
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    TensorWriteData,
    WriteItem,
    WriteItemType,
)

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]


def boxes_of(value: Tensor) -> list[ChunkStorageMetadata]:
    """The boxes of the tensor that this process holds: those that a sharded one tells, else all."""
    tells = getattr(value, "__create_chunk_list__", None)
    return [_boxes.whole(value.shape)] if tells is None else list(tells())


def local_of(value: Tensor) -> Tensor:
    """What this process holds of a tensor."""
    inner: Any = value.detach()
    return cast("Tensor", inner.to_local() if hasattr(value, "__create_chunk_list__") else inner)


class DefaultSavePlanner(SavePlanner):
    """Writes every tensor and object of the state dict.

    What several ranks hold is written by one: by the one with the fewest bytes so far, or with
    `dedup_save_to_lowest_rank` by the first. `flatten_state_dict=False` takes a dict without dicts
    in it as it is, so its values may be tensors and objects only.

    Args:
        flatten_state_dict: True, the default, gives nested dicts as names with dots.
        dedup_save_to_lowest_rank: True lets the first rank write what several hold; False, the
            default, shares it out by bytes.

    >>> planner = DefaultSavePlanner()
    >>> planner.set_up_planner({"model": {"weight": taeda.ones(2)}, "epoch": 4})
    >>> [item.index.fqn for item in planner.create_local_plan().items]
    ['model.weight', 'epoch']
    """

    def __init__(
        self, flatten_state_dict: bool = True, *, dedup_save_to_lowest_rank: bool = False
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank
        self.state_dict: dict[str, Any] = {}
        self.mappings: dict[str, Path] = {}
        self.is_coordinator = False

    def set_up_planner(
        self,
        state_dict: dict[str, Any],
        storage_meta: StorageMeta | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """Take what is saved."""
        self.is_coordinator = is_coordinator
        if self.flatten_state_dict:
            self.state_dict, self.mappings = flatten(state_dict)
        else:
            self.state_dict, self.mappings = (
                dict(state_dict),
                {name: (name,) for name in state_dict},
            )

    def create_local_plan(self) -> SavePlan:
        """An item for each box and object."""
        items = [item for name, value in self.state_dict.items() for item in _items(name, value)]
        return SavePlan(items, planner_data={n: list(p) for n, p in self.mappings.items()})

    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """Give each item to one rank. ValueError for ranks that do not agree about a tensor."""
        chosen = _shared_out(all_plans, self.dedup_save_to_lowest_rank)
        entries = _entries(item for items in chosen for item in items)
        paths = {
            name: path for plan in all_plans for name, path in (plan.planner_data or {}).items()
        }
        plans = [
            SavePlan(items, plan.storage_data, plan.planner_data)
            for items, plan in zip(chosen, all_plans, strict=True)
        ]
        return plans, Metadata(entries, planner_data=paths)

    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """Take this rank's part."""
        return new_plan

    def resolve_data(self, write_item: WriteItem) -> Tensor | io.BytesIO:
        """A tensor's values, or an object as the bytes of a file that `taeda.load` reads."""
        value = self.lookup_object(write_item.index)
        return cast("Tensor | io.BytesIO", self.transform_object(write_item, value))

    def lookup_object(self, index: MetadataIndex) -> Any:
        """The entry of a name; of a sharded tensor the local part. To be overridden."""
        value = self.state_dict[index.fqn]
        return local_of(value) if isinstance(value, Tensor) else value

    def transform_object(self, write_item: WriteItem, object: Any) -> Any:
        """What is written for an entry. To be overridden."""
        if write_item.type is not WriteItemType.BYTE_IO:
            return object
        file = io.BytesIO()
        try:
            taeda.save(object, file)
        except TypeError as error:
            raise TypeError(f"{write_item.index.fqn} cannot be saved: {error}") from error
        file.seek(0)
        return file


def _is_made_of_others(value: Tensor) -> bool:
    """Such as a masked tensor, or a subclass that computes in its own `__torch_dispatch__`."""
    return (
        core.parts_of(value) is not None
        or type(value).__torch_dispatch__ is not Tensor.__torch_dispatch__
    )


def _items(name: str, value: Any) -> Iterator[WriteItem]:
    if not isinstance(value, Tensor):
        yield WriteItem(MetadataIndex(name), WriteItemType.BYTE_IO)
        return
    if value.layout is not taeda.strided:
        raise TypeError(f"{name} is a {value.layout} tensor: checkpoints hold strided ones only")
    sharded = hasattr(value, "__create_chunk_list__")
    if not sharded and _is_made_of_others(value):
        raise TypeError(
            f"{name} is a {type(value).__name__}, which is made of other tensors: save those, "
            "checkpoints hold plain tensors and DTensors"
        )
    if value.device.type == "meta":
        raise ValueError(f"{name} is on the device meta and has no values to save")
    kind = WriteItemType.SHARD if sharded else WriteItemType.TENSOR
    for box in boxes_of(value):
        if math.prod(box.sizes) or not value.numel():
            data = TensorWriteData(box, TensorProperties.create_from_tensor(value), value.shape)
            yield WriteItem(MetadataIndex(name, box.offsets), kind, data)


def _shared_out(plans: list[SavePlan], lowest: bool) -> list[list[WriteItem]]:
    """Each rank's items, every box and object once: items with one holder first, then large ones."""
    holders: dict[MetadataIndex, list[int]] = {}
    items: dict[MetadataIndex, WriteItem] = {}
    for rank, plan in enumerate(plans):
        for item in plan.items:
            holders.setdefault(item.index, []).append(rank)
            _check_same(items.setdefault(item.index, item), item)
    loads, owner = [0] * len(plans), {}
    order = sorted(
        items, key=lambda i: (len(holders[i]) > 1, -(items[i].tensor_storage_size() or 0))
    )
    for index in order:
        ranks = holders[index]
        rank = ranks[0] if lowest else min(ranks, key=lambda r: (loads[r], r))
        owner[index] = rank
        loads[rank] += items[index].tensor_storage_size() or 0
    return [
        [item for item in plan.items if owner[item.index] == rank]
        for rank, plan in enumerate(plans)
    ]


def _facts(item: WriteItem) -> Any:
    data = item.tensor_data
    return data and (data.properties.dtype, tuple(data.size), tuple(data.chunk.sizes))


def _check_same(one: WriteItem, other: WriteItem) -> None:
    if _facts(one) != _facts(other):
        raise ValueError(
            f"ranks do not agree about {one.index.fqn}: {_facts(one)} and {_facts(other)} "
            "(dtype, size, size of the box)"
        )


def _entries(
    items: Iterable[WriteItem],
) -> dict[str, TensorStorageMetadata | BytesStorageMetadata]:
    """What the checkpoint holds. ValueError for boxes that do not fill their tensor once."""
    entries: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
    for item in items:
        name, data = item.index.fqn, item.tensor_data
        if data is None:
            made: Any = BytesStorageMetadata()
        else:
            made = TensorStorageMetadata(data.properties, data.size, [data.chunk])
        old = entries.setdefault(name, made)
        if old is made:
            continue
        if not isinstance(old, TensorStorageMetadata) or data is None:
            raise ValueError(f"{name} is a tensor on one rank and an object on another")
        if (old.properties.dtype, old.size) != (data.properties.dtype, data.size):
            raise ValueError(
                f"ranks do not agree about {name}: {old.properties.dtype} {tuple(old.size)} and "
                f"{data.properties.dtype} {tuple(data.size)}"
            )
        old.chunks.append(data.chunk)
    for name, entry in entries.items():
        if not isinstance(entry, TensorStorageMetadata):
            continue
        if fault := _boxes.fault_of(entry.size, entry.chunks):
            raise ValueError(f"{name} of size {tuple(entry.size)} is not whole: {fault}")
    return entries


class DefaultLoadPlanner(LoadPlanner):
    """Fills the tensors of the state dict in place, and replaces its objects.

    Every rank reads the parts of stored boxes that its own boxes need, whatever ranks wrote them.
    With `allow_partial_load` a name that the checkpoint does not have keeps its value.

    Args:
        flatten_state_dict: True, the default, takes nested dicts as names with dots.
        allow_partial_load: True leaves entries as they are that the checkpoint does not have;
            False, the default, names them in an error.

    >>> import tempfile
    >>> from taeda.distributed import checkpoint
    >>> folder, got = tempfile.mkdtemp(), {"weight": taeda.zeros(2), "bias": taeda.zeros(1)}
    >>> _ = checkpoint.save({"weight": taeda.ones(2)}, checkpoint_id=folder)
    >>> planner = DefaultLoadPlanner(allow_partial_load=True)
    >>> checkpoint.load(got, checkpoint_id=folder, planner=planner)
    >>> got
    {'weight': tensor([1., 1.]), 'bias': tensor([0.])}
    """

    def __init__(
        self, flatten_state_dict: bool = True, *, allow_partial_load: bool = False
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.allow_partial_load = allow_partial_load
        self.original: dict[str, Any] = {}
        self.state_dict: dict[str, Any] = {}
        self.mappings: dict[str, Path] = {}
        self.metadata: Metadata | None = None
        self.is_coordinator = False

    def set_up_planner(
        self,
        state_dict: dict[str, Any],
        metadata: Metadata | None = None,
        is_coordinator: bool = False,
    ) -> None:
        """Take what is to be filled."""
        self.original, self.metadata, self.is_coordinator = state_dict, metadata, is_coordinator
        if self.flatten_state_dict:
            self.state_dict, self.mappings = flatten(state_dict)
        else:
            self.state_dict, self.mappings = (
                dict(state_dict),
                {name: (name,) for name in state_dict},
            )

    def create_local_plan(self) -> LoadPlan:
        """An item for each part of a stored box. RuntimeError or ValueError for what does not fit."""
        if self.metadata is None:
            raise RuntimeError("the planner has no metadata: set_up_planner comes first")
        stored = self.metadata.state_dict_metadata
        check_entries(self.state_dict, stored, self.allow_partial_load)
        found = [(name, value) for name, value in self.state_dict.items() if name in stored]
        return LoadPlan(
            [item for name, value in found for item in _reads(name, value, stored[name])]
        )

    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """Every rank reads what it wants."""
        return global_plan

    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        """Take this rank's part."""
        return central_plan

    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        """Replace an object, by data that runs no code."""
        name = read_item.dest_index.fqn
        self.state_dict[name] = loaded = taeda.load(value)
        set_at(self.original, self.mappings[name], loaded)

    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        """The part of the tensor that is read now."""
        return self.transform_tensor(read_item, self.lookup_tensor(read_item.dest_index))

    def lookup_tensor(self, index: MetadataIndex) -> Tensor:
        """The tensor of a name; of a sharded one the local part. To be overridden."""
        return local_of(self.state_dict[index.fqn])

    def transform_tensor(self, read_item: ReadItem, tensor: Tensor) -> Tensor:
        """The part of the tensor that is read now. To be overridden."""
        places = zip(read_item.dest_offsets, read_item.lengths, strict=True)
        for dim, (offset, length) in enumerate(places):
            tensor = tensor.narrow(dim, offset, length)
        return tensor

    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """The values lie where they belong already."""


def _reads(name: str, value: Any, entry: Any) -> Iterator[ReadItem]:
    """The items that fill a value."""
    none = taeda.Size([])
    if isinstance(entry, BytesStorageMetadata):
        index = MetadataIndex(name)
        yield ReadItem(LoadItemType.BYTE_IO, index, none, index, none, none)
        return
    for wanted in boxes_of(value):
        left = math.prod(wanted.sizes)
        for chunk in entry.chunks:
            shared = _boxes.common(wanted, chunk)
            if shared is None:
                continue
            at, sizes = shared
            left -= math.prod(sizes)
            yield ReadItem(
                LoadItemType.TENSOR,
                MetadataIndex(name, wanted.offsets),
                _minus(at, wanted.offsets),
                MetadataIndex(name, chunk.offsets),
                _minus(at, chunk.offsets),
                taeda.Size(sizes),
            )
        if left:
            raise ValueError(
                f"the checkpoint's boxes of {name} leave out or repeat {abs(left)} elements"
            )


def _minus(one: Iterable[int], other: Iterable[int]) -> taeda.Size:
    return taeda.Size([a - b for a, b in zip(one, other, strict=True)])
