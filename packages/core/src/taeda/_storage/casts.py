"""What both kinds of storages can become, and what they are not."""

from __future__ import annotations

import copy
from typing import Any

from .._native import core as _core

__all__ = ["KINDS", "Casts", "dtype_named", "listing"]

#: methods that convert, with the names of the old classes
KINDS = {
    "bfloat16": ("bfloat16", "BFloat16"), "bool": ("bool", "Bool"), "byte": ("uint8", "Byte"),
    "char": ("int8", "Char"),
    "complex_double": ("complex128", "ComplexDouble"), "complex_float": ("complex64", "ComplexFloat"),
    "double": ("float64", "Double"), "float": ("float32", "Float"), "half": ("float16", "Half"),
    "int": ("int32", "Int"),
    "long": ("int64", "Long"), "short": ("int16", "Short"),
}  # fmt: skip
_UNNAMED = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def dtype_named(kind: Any) -> Any:
    """The dtype that a dtype or an old class name ("taeda.FloatStorage") stands for.
    ValueError for others.
    """
    if isinstance(kind, _core.dtype):
        return kind
    word = str(kind).rpartition(".")[2].removesuffix("Storage")
    for dtype, name in KINDS.values():
        if name == word:
            return getattr(_core, dtype)
    raise ValueError(
        f"invalid storage type {kind!r}: wanted a dtype or a name such as 'taeda.FloatStorage'"
    )


def listing(storage: Any, what: str) -> str:
    """A storage as text: an element a line, none for a meta storage, and what it is."""
    values = [] if storage.device.type == "meta" else storage.tolist()
    return (
        "".join(f" {value}\n" for value in values)
        + f"[taeda.storage.{what} of size {len(storage)}]"
    )


class Casts:
    """Conversions and facts; the class below it brings `_elements`, `_converted` and `_bytes`."""

    is_hpu = False
    is_sparse = False
    is_sparse_csr = False
    _bytes: Any

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is on a CUDA device."""
        return bool(self._bytes.device.type == "cuda")

    def get_device(self) -> Any:
        """The number of the device; None for the cpu."""
        return self._bytes.device.index

    def resizable(self) -> bool:
        """Whether `resize_` can move the memory: not if it is shared, mapped, or somebody else's."""
        return not (self._bytes.is_shared() or _core.is_fixed(self._bytes))

    def is_pinned(self, device: Any = "cuda") -> bool:
        """Whether the memory is page-locked, so that a device copies from and to it on its own."""
        return bool(self._bytes.is_pinned())

    def pin_memory(self, device: Any = "cuda") -> Any:
        """The bytes in page-locked memory; the storage itself if it lies there already.
        RuntimeError without an accelerator.
        """
        return self if self.is_pinned() else self._placed(self._bytes.pin_memory())

    def cpu(self) -> Any:
        """The storage on the cpu: itself, unless it is a meta storage, which has nothing to copy."""
        return self.to(device="cpu")

    def to(self, *, device: Any, non_blocking: bool = False) -> Any:
        """The storage on a device: itself if it is there. RuntimeError for a device that is not to be had."""
        wanted = _core.device(device)
        moved = self._bytes.to(wanted, non_blocking=non_blocking)
        return self if moved is self._bytes else self._placed(moved)

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """The storage on a CUDA device. RuntimeError where there is none."""
        return self.to(device="cuda" if device is None else device, non_blocking=non_blocking)

    def hpu(self, device: Any = None, non_blocking: bool = False) -> Any:
        """The storage on an HPU. RuntimeError where there is none."""
        return self.to(device="hpu")

    def mps(self) -> Any:
        """The storage on an Apple GPU. RuntimeError where there is none."""
        return self.to(device="mps")

    def _placed(self, moved: Any) -> Any:
        made = copy.copy(self)
        made._bytes = moved
        return made

    def _converted(self, dtype: Any) -> Any:
        raise NotImplementedError


def _cast(name: str, dtype: str) -> Any:
    def cast(self: Casts) -> Any:
        return self._converted(getattr(_core, dtype))

    cast.__name__, cast.__qualname__ = name, f"Storage.{name}"
    cast.__doc__ = f"The elements converted to {dtype}, in a storage of their own."
    return cast


for _name, (_dtype, _) in KINDS.items():
    setattr(Casts, _name, _cast(_name, _dtype))
for _name in _UNNAMED:
    setattr(Casts, _name, _cast(_name, _name))
