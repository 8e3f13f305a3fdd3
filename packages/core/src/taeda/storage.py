"""Storages: the bytes behind tensors, as objects of their own.

A storage object holds a uint8 tensor over all bytes; two objects are equal if they stand for the same memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

__all__ = ["TypedStorage", "UntypedStorage"]


class UntypedStorage:
    """Bytes that tensors view.

    `UntypedStorage(n)` has n unset bytes; `UntypedStorage([1, 2])` has those bytes.
    """

    def __init__(self, *args: Any, device: Any = None) -> None:
        if len(args) > 1:
            raise TypeError(
                f"UntypedStorage takes a size in bytes or a sequence of bytes, got {len(args)} arguments"
            )
        content = args[0] if args else 0
        if isinstance(content, int):
            self._bytes = taeda.empty(content, dtype=taeda.uint8, device=device)
        else:
            self._bytes = taeda.tensor(list(content), dtype=taeda.uint8, device=device)

    @classmethod
    def _of(cls, tensor: Tensor) -> UntypedStorage:
        made = cls.__new__(cls)
        made._bytes = _core.storage_bytes(tensor)
        return made

    @property
    def device(self) -> Any:
        """Where the bytes are."""
        return self._bytes.device

    @property
    def is_cuda(self) -> bool:
        """False: bytes live on the cpu or nowhere (meta)."""
        return False

    def nbytes(self) -> int:
        """Number of bytes."""
        return self._bytes.numel()

    size = nbytes

    def element_size(self) -> int:
        """1: the elements are bytes."""
        return 1

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return self._bytes.data_ptr()

    def __len__(self) -> int:
        return self.nbytes()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            made = UntypedStorage.__new__(UntypedStorage)
            made._bytes = self._bytes[index]
            return made
        return self._bytes[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._bytes[index] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self._bytes.tolist())

    def tolist(self) -> list[int]:
        """The bytes as ints."""
        return self._bytes.tolist()

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        self._bytes.fill_(value)
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Take the bytes of another storage of the same size."""
        self._bytes.copy_(source._bytes)
        return self

    def clone(self) -> UntypedStorage:
        """A storage of its own with the same bytes."""
        made = UntypedStorage.__new__(UntypedStorage)
        made._bytes = self._bytes.clone()
        return made

    def cpu(self) -> UntypedStorage:
        """The storage on the cpu: itself."""
        return self

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Grow or shrink to `nbytes`; tensors on it see the new memory."""
        _core.storage_resize(self._bytes, nbytes)
        self._bytes = _core.storage_bytes(self._bytes)
        return self

    def is_shared(self) -> bool:
        """Whether other processes can see the bytes."""
        return self._bytes.is_shared()

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes to where other processes can see them, with every tensor on them; returns the storage.

        No change if they are shared already. A shared storage cannot be resized. RuntimeError if shared memory or
        file descriptors are out.
        """
        self._bytes.share_memory_()
        return self

    @classmethod
    def _new_shared(cls, nbytes: int, *, device: Any = "cpu") -> UntypedStorage:
        """A storage of `nbytes` zero bytes in shared memory."""
        from ._sharing import new_shared

        return cls._of(new_shared(nbytes))

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first `nbytes` bytes of a file, mapped.

        `shared`: writes reach the file, which is created or lengthened if needed and stays when all is done; else
        they stay private. RuntimeError if the file cannot be opened or is too short.
        """
        from ._sharing import from_file

        return cls._of(from_file(filename, shared, nbytes))

    @property
    def filename(self) -> str | None:
        """The file that the storage was mapped from by `from_file`, or None."""
        from ._sharing import is_own_file

        facts = _core.segment_facts(self._bytes)
        return None if facts is None or is_own_file(facts[3]) else facts[3]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and _core.storage_address(
            self._bytes
        ) == _core.storage_address(other._bytes)

    def __hash__(self) -> int:
        return hash(_core.storage_address(self._bytes))

    def __repr__(self) -> str:
        return f"{self.tolist()}\n[taeda.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


class TypedStorage:
    """A storage seen as elements of one dtype; kept for programs that still ask for it."""

    def __init__(self, untyped: UntypedStorage, dtype: Any) -> None:
        self._untyped_storage, self.dtype = untyped, dtype

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return self._untyped_storage

    def _elements(self) -> Tensor:
        count = self._untyped_storage.nbytes() // self.dtype.itemsize
        return _core.on_storage(self._untyped_storage._bytes, self.dtype, (count,), (1,), 0)

    def __len__(self) -> int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    size = __len__

    def __getitem__(self, index: int) -> Any:
        return self._elements()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements()[index] = value

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self._elements().tolist()

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return self._untyped_storage.data_ptr()

    def nbytes(self) -> int:
        """Number of bytes."""
        return self._untyped_storage.nbytes()

    def __repr__(self) -> str:
        return (
            f"{self.tolist()}\n[taeda.storage.TypedStorage(dtype={self.dtype}) of size {len(self)}]"
        )
