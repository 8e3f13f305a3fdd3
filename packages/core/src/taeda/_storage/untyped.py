"""UntypedStorage: the bytes behind tensors, as an object of its own.

A storage object holds a uint8 tensor over all bytes; two objects are equal if they stand for the same memory.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from .casts import Casts, dtype_named, listing

__all__ = ["UntypedStorage"]

#: address of the memory -> its object, which holds the memory
_known: weakref.WeakValueDictionary[int, UntypedStorage] = weakref.WeakValueDictionary()


class UntypedStorage(Casts):
    """Bytes that tensors view.

    `UntypedStorage(n)` has n unset bytes; `UntypedStorage([1, 2])` has those bytes.

    >>> memory = taeda.tensor([1, 2], dtype=taeda.int16).untyped_storage()
    >>> memory.nbytes(), list(memory)
    (4, [1, 0, 2, 0])
    """

    __module__ = "taeda.storage"

    def __init__(self, *args: Any, device: Any = None) -> None:
        if len(args) > 1:
            raise TypeError(
                f"UntypedStorage takes a size in bytes or a sequence of bytes, got {len(args)} arguments"
            )
        content = args[0] if args else 0
        if isinstance(content, int):
            self._bytes = taeda.empty(content, dtype=taeda.uint8, device=device)
            return
        items = list(content)
        strange = next((x for x in items if not isinstance(x, int)), None)
        if strange is not None:
            raise RuntimeError(
                f"UntypedStorage takes bytes as ints, one of the items is a {type(strange).__name__}"
            )
        self._bytes = taeda.tensor(items, dtype=taeda.uint8, device=device)

    @classmethod
    def _of(cls, tensor: Tensor) -> UntypedStorage:
        """The object that stands for the memory of a tensor: the same as long as somebody holds it."""
        memory = _core.storage_bytes(tensor)
        address = _core.storage_address(memory)
        known = _known.get(address)
        if known is None:
            known = _known[address] = cls.__new__(cls)
            known._bytes = memory
        return known

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    @property
    def device(self) -> Any:
        """Where the bytes are."""
        return self._bytes.device

    @property
    def _cdata(self) -> int:
        """A number that no other memory has; libraries compare it."""
        return _core.storage_address(self._bytes)

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
        self._bytes.copy_(source._bytes, non_blocking)
        return self

    def clone(self) -> UntypedStorage:
        """A storage of its own with the same bytes."""
        made = UntypedStorage.__new__(UntypedStorage)
        made._bytes = self._bytes.clone()
        return made

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def _elements(self) -> Tensor:
        return self._bytes

    def _converted(self, dtype: Any) -> Any:
        from .typed import TypedStorage  # late: typed ones are made of this class

        return TypedStorage._of_elements(self._bytes.to(dtype))

    def new(self) -> UntypedStorage:
        """An empty storage."""
        return UntypedStorage(device=self.device)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Without argument the name of the class; else a TypedStorage of the bytes' values in that dtype."""
        if dtype is None:
            return "taeda.storage.UntypedStorage"
        return self._converted(dtype_named(dtype))

    def byteswap(self, dtype: Any) -> None:
        """Turn round the bytes of every element of `dtype`, in place; of complex numbers both parts."""
        size = dtype.itemsize // (2 if dtype.is_complex else 1)
        if self.nbytes() % size:
            raise RuntimeError(f"{self.nbytes()} bytes hold no whole elements of {dtype}")
        self._bytes.copy_(self._bytes.view(-1, size).flip(1).reshape(-1))

    @classmethod
    def from_buffer(
        cls,
        buffer: Any,
        byte_order: str | None = None,
        count: int = -1,
        offset: int = 0,
        *,
        dtype: Any = None,
    ) -> UntypedStorage:
        """A copy of `count` elements of a bytes-like object, from byte `offset` on; all of it by default.

        `byte_order` is "big", "little" or "native", that of the buffer; elements of several bytes need one.
        """
        if dtype is None:
            raise RuntimeError("argument 'dtype' cannot be None: it says how long an element is")
        raw = _part(memoryview(buffer).cast("B"), dtype.itemsize, count, offset)
        made = cls(len(raw))
        if len(raw):
            made._bytes.copy_(_core.from_buffer(bytes(raw), _core.uint8))
        if _is_foreign(byte_order, dtype):
            made.byteswap(dtype)
        return made

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Grow or shrink to `nbytes`; tensors on it see the new memory."""
        _core.storage_resize(self._bytes, nbytes)
        self._bytes = _core.storage_bytes(self._bytes)
        return self

    def is_shared(self) -> bool:
        """Whether other processes can see the bytes."""
        return self._bytes.is_shared()

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes to where other processes can see them, with every tensor on them; returns
        the storage.

        No change if they are shared already. A shared storage cannot be resized. RuntimeError if
        shared memory or file descriptors are out.
        """
        self._bytes.share_memory_()
        return self

    @classmethod
    def _new_shared(cls, nbytes: int, *, device: Any = "cpu") -> UntypedStorage:
        """A storage of `nbytes` zero bytes in shared memory."""
        from .sharing import new_shared

        return cls._of(new_shared(nbytes))

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first `nbytes` bytes of a file, mapped.

        `shared`: writes reach the file, which is created or lengthened if needed and stays when all
        is done; else they stay private. RuntimeError if the file cannot be opened or is too short.
        """
        from .sharing import from_file

        return cls._of(from_file(filename, shared, nbytes))

    @property
    def filename(self) -> str | None:
        """The file that the storage was mapped from by `from_file`, or None."""
        from .sharing import is_own_file

        facts = _core.segment_facts(self._bytes)
        return None if facts is None or is_own_file(facts[3]) else facts[3]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and _core.storage_address(
            self._bytes
        ) == _core.storage_address(other._bytes)

    def __hash__(self) -> int:
        return hash(_core.storage_address(self._bytes))

    def __repr__(self) -> str:
        return listing(self, f"UntypedStorage(device={self.device})")


def _part(raw: memoryview, item: int, count: int, offset: int) -> memoryview:
    """The bytes of `count` elements from `offset` on. ValueError if they are not there."""
    if not 0 <= offset <= len(raw):
        raise ValueError(f"offset must lie within the buffer's {len(raw)} bytes, got {offset}")
    left = len(raw) - offset
    if count < 0 and left % item:
        raise ValueError(f"buffer size ({left}) must be a multiple of element size ({item})")
    wanted = left if count < 0 else count * item
    if wanted > left:
        raise ValueError(
            f"buffer has only {left // item} elements after offset {offset}, but specified a size of {count}"
        )
    return raw[offset : offset + wanted]


def _is_foreign(byte_order: str | None, dtype: Any) -> bool:
    if byte_order not in ("big", "little", "native"):
        if byte_order is None and dtype.itemsize == 1:
            return False
        raise ValueError(
            f"invalid byte_order {byte_order!r} (expected 'big', 'little', or 'native')"
        )
    return byte_order not in ("native", sys.byteorder)
