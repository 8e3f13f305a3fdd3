"""A batch as bytes and segments: pickled, with tensors and arrays beside the pickle instead of in it."""

from __future__ import annotations

import io
import math
import pickle
from collections.abc import Callable, Iterable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core

from .blocks import Block, blocks_of
from .channel import MOST_DESCRIPTORS
from .plain import is_plain
from .segments import Arena, Segment

__all__ = ["pack", "unpack"]


def pack(batch: Any, arena: Arena) -> tuple[bytes, list[tuple[Segment, int]]]:
    """The pickle of a batch, and in their order the segments with its larger tensors and arrays,
    and how many bytes they use.

    Tensors are copied unless they were made on a segment. Views of one segment stay views of one,
    and so do views that overlap or touch.
    """
    file, beside = io.BytesIO(), _Beside(arena)
    _Pickler(file, beside, blocks_of(batch)).dump(batch)
    return file.getvalue(), beside.used


def unpack(data: bytes, memories: Iterable[tuple[Tensor, int]]) -> Any:
    """The batch again, on the same segments; `memories` are their bytes in this process, and how
    many are used.
    """
    # each user gets a handle of its own, so that the segment knows when the last one is gone
    handles = (_core.on_storage(m, taeda.uint8, (nbytes,), (1,), 0) for m, nbytes in memories)
    return pickle.loads(data, buffers=handles)


class _Beside:
    """What lies beside a pickle: which of its buffers are on which segments."""

    def __init__(self, arena: Arena) -> None:
        self.used: list[tuple[Segment, int]] = []
        self._arena = arena
        self._stand_ins: dict[int, tuple[pickle.PickleBuffer, Segment]] = {}

    def stand_in(self, tensor: Tensor) -> tuple[pickle.PickleBuffer, Tensor] | None:
        """A buffer that stands for the segment a tensor lies on, and the tensor there; None if
        memory is short.
        """
        segment = self._arena.holding(tensor)
        if segment is None and len(self._stand_ins) < MOST_DESCRIPTORS:
            tensor, segment = self._copied(tensor)
        if segment is None:
            return None
        # a writable buffer is replaced by what it stands for as it is, without a memoryview around it
        buffer = pickle.PickleBuffer(bytearray())
        self._stand_ins[id(buffer)] = (buffer, segment)
        return buffer, tensor

    def holds(self, tensor: Tensor) -> bool:
        """Whether it lies on a segment already."""
        return self._arena.holding(tensor) is not None

    def block(self, block: Block) -> Tensor:
        """The copy of a block, which is one tensor for all who lie on it."""
        if block.copy is None:
            data = block.bytes()
            room = None
            if len(self._stand_ins) < MOST_DESCRIPTORS:
                room = self._arena.empty((data.numel(),), taeda.uint8)
            block.copy = data.clone() if room is None else room.copy_(data)
        return block.copy

    def _copied(self, tensor: Tensor) -> tuple[Tensor, Segment | None]:
        room = self._arena.empty((tensor.numel(),), tensor.dtype)
        if room is None:
            return tensor, None
        strides = _dense_strides(tensor)
        copy = _core.on_storage(room, tensor.dtype, tuple(tensor.shape), strides, 0)
        copy.copy_(tensor)
        return copy, self._arena.holding(copy)

    def take(self, buffer: pickle.PickleBuffer) -> bool:
        """Called for each buffer of the pickle; False leaves its bytes out of it."""
        found = self._stand_ins.get(id(buffer))
        if found:
            self.used.append((found[1], found[1].memory.numel()))
            return False
        raw = buffer.raw()
        if len(self.used) >= MOST_DESCRIPTORS or raw.readonly:
            return True
        segment = self._arena.with_bytes(raw)
        if segment is None:
            return True
        self.used.append((segment, raw.nbytes))
        return False


class _Pickler(ForkingPickler):
    def __init__(self, file: io.BytesIO, beside: _Beside, blocks: dict[int, Block]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL, True, beside.take)
        self._beside = beside
        self._blocks = blocks

    def reducer_override(self, value: Any) -> Any:
        """How a tensor is written; everything else as usual."""
        if not isinstance(value, Tensor):
            return NotImplemented
        if value.requires_grad and not value.is_leaf:
            raise RuntimeError(
                "a worker cannot send a tensor that requires grad and is no leaf, for its history "
                "stays behind: "
                "detach() it in the data set or in collate_fn"
            )
        if type(value) is not Tensor or not is_plain(value) or value.is_meta:
            return NotImplemented
        block = self._blocks.get(id(value))
        if block is not None and not self._beside.holds(value):
            geometry = tuple(value.shape), tuple(value.stride()), block.place(value)
            memory = self._beside.block(block)
            return _on_memory, (memory, value.dtype, *geometry, value.requires_grad)
        plain = value.detach().resolve_conj().resolve_neg()
        return self._reduced(plain, value.requires_grad) or _in_band(plain, value.requires_grad)

    def _reduced(self, tensor: Tensor, requires_grad: bool) -> Any:
        found = self._beside.stand_in(tensor)
        if found is None:
            return None
        buffer, placed = found
        place = (tuple(placed.shape), tuple(placed.stride()), placed.storage_offset())
        return _on_memory, (buffer, placed.dtype, *place, requires_grad)


def _dense_strides(tensor: Tensor) -> tuple[int, ...]:
    """The tensor's own strides if they leave no gap, or those of a contiguous one."""
    sizes, strides, expected = tensor.shape, tensor.stride(), 1
    for i in sorted(range(tensor.ndim), key=lambda i: (strides[i], sizes[i])):
        if sizes[i] != 1 and strides[i] != expected:
            return tuple(math.prod(sizes[k + 1 :]) for k in range(tensor.ndim))
        expected *= sizes[i]
    return tuple(strides)


def _in_band(tensor: Tensor, requires_grad: bool) -> tuple[Callable[..., Tensor], Any]:
    sizes, strides, data = tuple(tensor.shape), _dense_strides(tensor), b""
    if tensor.numel():
        dense = tensor
        if strides != tuple(tensor.stride()):
            dense = tensor.contiguous()
        data = memoryview(dense.as_strided((tensor.numel(),), (1,)).view(taeda.uint8)).tobytes()
    return _from_bytes, (data, tensor.dtype, sizes, strides, requires_grad)


def _from_bytes(
    data: bytes, dtype: Any, sizes: tuple[int, ...], strides: tuple[int, ...], requires_grad: bool
) -> Tensor:
    if data:
        tensor = taeda.frombuffer(bytearray(data), dtype=dtype).as_strided(sizes, strides)
    else:
        tensor = taeda.empty(sizes, dtype=dtype)
    return tensor.requires_grad_() if requires_grad else tensor


def _on_memory(
    memory: Tensor,
    dtype: Any,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    requires_grad: bool,
) -> Tensor:
    tensor = _core.on_storage(memory, dtype, sizes, strides, offset)
    return tensor.requires_grad_() if requires_grad else tensor
