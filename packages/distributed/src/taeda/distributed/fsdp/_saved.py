"""What a graph saves while a unit's forward runs: of whole parameters a reference, the rest as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from taeda import Tensor
from taeda._core_api import runtime as core

from ..tensor._api import DTensor

__all__ = ["Saved"]


@dataclass
class _Part:
    """A view of a unit's whole tensor, without its memory, and what the shards were."""

    number: int
    size: Sequence[int]
    stride: Sequence[int]
    offset: int
    stamp: Any
    dressed: Any  # of a DTensor how it lies, and its strides


@dataclass
class _Kept:
    """Another tensor, and how often it had been written."""

    tensor: Tensor
    version: int


@dataclass
class _Packed:
    """What hooks around the forward made of a tensor."""

    value: Any


class Saved:
    """Context: saved tensors that are parts of `wholes` are kept as references to the unit.

    Hooks of a context around it get the others, so it nests with checkpoints and with other units.
    """

    def __init__(self, unit: Any, wholes: Sequence[Tensor]) -> None:
        self.unit = unit
        self.numbers = {
            core.storage_address(whole): number
            for number, whole in enumerate(wholes)
            if whole.numel()
        }
        self.dtypes = [whole.dtype for whole in wholes]
        self.stamp = unit.stamp()

    def __enter__(self) -> None:
        self.before = core._set_saved_hooks(self.pack, self.unpack)

    def __exit__(self, *unused: object) -> None:
        core._set_saved_hooks(*self.before)

    def pack(self, tensor: Tensor) -> Any:
        """What the graph keeps."""
        number = self._number(tensor)
        if number is not None:
            inner = tensor._local if isinstance(tensor, DTensor) else tensor
            dressed = (tensor._spec, tensor.stride()) if isinstance(tensor, DTensor) else None
            offset = inner.storage_offset()
            return _Part(number, inner.shape, inner.stride(), offset, self.stamp, dressed)
        if self.before[0] is not None:
            return _Packed(self.before[0](tensor))
        return _Kept(tensor, tensor._version)

    def _number(self, tensor: Tensor) -> int | None:
        if isinstance(tensor, DTensor):
            tensor = tensor._local
        if type(tensor).__torch_dispatch__ is not Tensor.__torch_dispatch__ or not tensor.numel():
            return None  # it has no memory
        number = self.numbers.get(core.storage_address(tensor))
        if number is None or tensor.dtype != self.dtypes[number]:
            return None
        return None if tensor.is_conj() or tensor.is_neg() else number

    def unpack(self, kept: Any) -> Tensor:
        """The tensor, with the values that it had."""
        if isinstance(kept, _Packed):
            made: Tensor = self.before[1](kept.value)
            return made
        if isinstance(kept, _Kept):
            if kept.tensor._version != kept.version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace "
                    f"operation: a tensor of shape {tuple(kept.tensor.shape)} was written after the forward"
                )
            return kept.tensor
        if self.unit.stamp() != kept.stamp:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace "
                "operation: a sharded parameter was written after the forward, such as by a step"
            )
        self.unit.enter_backward()
        whole: Tensor = self.unit.gather()[kept.number]
        part = whole.as_strided(kept.size, kept.stride, kept.offset)
        if kept.dressed is None:
            return part
        dressed: Tensor = DTensor(part, kept.dressed[0], strides=kept.dressed[1])
        return dressed
