"""What has to be saved for some tensors: storages, and how each tensor lies in one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

__all__ = ["CODES", "Collector", "Storage"]

#: the format's name of each dtype
CODES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "uint16": "U16",
    "int32": "I32",
    "uint32": "U32",
    "int64": "I64",
    "uint64": "U64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}
_PAIRS = {"complex32": "F16", "complex64": "F32", "complex128": "F64"}  # real and imaginary part


def _dtype_name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


@dataclass
class Storage:
    """A storage, and the bytes of it that the saved tensors reach."""

    owner: Tensor  # the first tensor saved on it
    name: str
    begin: int
    end: int
    dtypes: set[str] = field(default_factory=set)

    @property
    def align(self) -> int:
        return max(getattr(taeda, name).itemsize for name in self.dtypes)

    def data(self) -> memoryview:
        return memoryview(_core.storage_bytes(self.owner))[self.begin : self.end]

    def shape(self) -> tuple[str, tuple[int, ...]]:
        """The format's dtype and shape: the owner's if it is what the entry holds, else flat."""
        size, dtype = self.end - self.begin, _dtype_name(self.owner.dtype)
        if len(self.dtypes) > 1 or dtype not in CODES | _PAIRS:
            return "U8", (size,)
        item = self.owner.element_size()
        whole = self.owner.is_contiguous() and self.owner.numel() * item == size
        shape = tuple(self.owner.shape) if whole else (size // item,)
        return (CODES[dtype], shape) if dtype in CODES else (_PAIRS[dtype], (*shape, 2))


class Collector:
    """Takes the tensors of an object, and finds out which storages they need."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.kept: list[Tensor] = []  # keeps ids from being used again
        self.rows: list[tuple[Any, Tensor, list[str]]] = []
        self.storages: dict[Any, Storage] = {}
        self.names: set[str] = {"__metadata__"}

    def keep(self, tensor: Tensor, path: str) -> int:
        """The number of a tensor; the same object has the same number."""
        found = self.numbers.get(id(tensor))
        if found is not None:
            return found
        self.kept.append(tensor)
        plain, marks = _plain(tensor, path)
        key = None if plain.device.type == "meta" else self._add_to_storage(plain, path)
        self.numbers[id(tensor)] = len(self.rows)
        self.rows.append((key, plain, marks))
        return len(self.rows) - 1

    def _add_to_storage(self, tensor: Tensor, path: str) -> Any:
        begin, end = _extent(tensor)
        key = _core.storage_address(tensor) if end > begin else len(self.rows)
        storage = self.storages.get(key)
        if storage is None:
            storage = self.storages[key] = Storage(tensor, self._name(path), begin, end)
        storage.begin, storage.end = min(begin, storage.begin), max(end, storage.end)
        storage.dtypes.add(_dtype_name(tensor.dtype))
        return key

    def _name(self, path: str) -> str:
        name = path = path.encode(errors="replace").decode() or "tensor"
        copies = 1
        while name in self.names:
            copies += 1
            name = f"{path}#{copies}"
        self.names.add(name)
        return name

    def described(self) -> list[Any]:
        """One row for each tensor: where it lies, and what it is besides its numbers."""
        return [self._row(*row) for row in self.rows]

    def _row(self, key: Any, tensor: Tensor, marks: list[str]) -> list[Any]:
        storage = self.storages.get(key) if key is not None else None
        item = tensor.element_size()
        offset = (tensor.storage_offset() - storage.begin // item) if storage else 0
        if tensor.numel() == 0:
            offset = 0
        name, strides = storage.name if storage else None, list(tensor.stride())
        return [name, _dtype_name(tensor.dtype), list(tensor.shape), strides, offset, marks]


def _plain(tensor: Tensor, path: str) -> tuple[Tensor, list[str]]:
    """The strided tensor that holds the numbers, and marks for what it is besides."""
    kind = type(tensor).__name__
    if kind not in ("Tensor", "Parameter", "Buffer"):
        raise TypeError(f"cannot save '{path}', a {kind}: convert it to a plain Tensor first")
    if tensor.layout is not taeda.strided:
        raise NotImplementedError(f"cannot save '{path}': its layout is {tensor.layout}")
    marks = ["Parameter"] if kind == "Parameter" else []
    if tensor.requires_grad:
        marks.append("requires_grad")
    plain = tensor.detach()
    if plain.is_neg():
        plain = plain.resolve_neg()
    if plain.is_conj():
        plain = plain.conj()
        marks.append("conj")
    if plain.device.type == "meta":
        marks.append("meta")
    return plain, marks


def _extent(tensor: Tensor) -> tuple[int, int]:
    """The bytes of its storage that a tensor reaches; whole elements of every dtype."""
    if tensor.numel() == 0:
        return 0, 0
    item, offset = tensor.element_size(), tensor.storage_offset()
    last = offset + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    begin = offset * item
    return begin - begin % 16, (last + 1) * item  # 16: element offsets stay whole in any dtype
