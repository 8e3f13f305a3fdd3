"""Storages with a dtype, kept for programs that still ask for them: TypedStorage and its old names,
such as FloatStorage.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from .casts import KINDS, Casts, dtype_named, listing
from .untyped import UntypedStorage

__all__ = ["CLASSES", "TypedStorage"]

# quantized elements are read and written as the integers that hold them
_INTEGERS = {"quint8": "uint8", "qint8": "int8", "qint32": "int32", "quint4x2": "uint8",
    "quint2x4": "uint8"}  # fmt: skip
_NAMES = dict(KINDS.values()) | {
    "quint8": "QUInt8", "qint8": "QInt8", "qint32": "QInt32", "quint4x2": "QUInt4x2", "quint2x4": "QUInt2x4",
}  # fmt: skip


def _word(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


class TypedStorage(Casts):
    """A storage seen as elements of one dtype.

    `TypedStorage(3, dtype=...)` has three unset elements, `TypedStorage([1, 2], dtype=...)` those
    two, `TypedStorage(wrap_storage=s, dtype=...)` the bytes of the UntypedStorage `s`. The dtype is
    the default one unless given.

    >>> storage = taeda.tensor([1.0, 2.0]).storage()
    >>> list(storage), storage.dtype
    ([1.0, 2.0], taeda.float32)
    """

    __module__ = "taeda.storage"

    def __init__(
        self,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: Any = None,
        device: Any = None,
        _internal: bool = False,
    ) -> None:
        if len(args) > (wrap_storage is None):
            raise RuntimeError(
                f"TypedStorage takes a size, a sequence, or wrap_storage=, got {len(args)} arguments"
            )
        self.dtype = dtype or taeda.get_default_dtype()
        content = args[0] if args else 0
        if wrap_storage is not None:
            self._untyped_storage = wrap_storage
        elif isinstance(content, int):
            self._untyped_storage = UntypedStorage(content * self.dtype.itemsize, device=device)
        else:
            values = taeda.tensor(list(content), dtype=self._plain())
            self._untyped_storage = UntypedStorage._of(values)

    @classmethod
    def _of_elements(cls, elements: Tensor) -> TypedStorage:
        return cls(wrap_storage=UntypedStorage._of(elements), dtype=elements.dtype)

    def __reduce__(self) -> Any:
        return _wrap, (self._untyped_storage, self.dtype)

    def __deepcopy__(self, memo: Any) -> TypedStorage:
        made = memo[id(self)] = TypedStorage(
            wrap_storage=copy.deepcopy(self._untyped_storage, memo), dtype=self.dtype
        )
        return made

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def _plain(self) -> Any:
        return getattr(_core, _INTEGERS.get(_word(self.dtype), _word(self.dtype)))

    def _elements(self) -> Tensor:
        return _core.on_storage(self._bytes, self._plain(), (len(self),), (1,), 0)

    def _converted(self, dtype: Any) -> TypedStorage:
        return self._of_elements(self._elements().to(dtype, copy=True))

    @property
    def _bytes(self) -> Any:
        return self._untyped_storage._bytes

    @property
    def device(self) -> Any:
        """Where the elements are."""
        return self._untyped_storage.device

    @property
    def filename(self) -> str | None:
        """The file that the storage was mapped from by `from_file`, or None."""
        return self._untyped_storage.filename

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return self._untyped_storage

    def _placed(self, moved: Tensor) -> TypedStorage:
        return TypedStorage(wrap_storage=UntypedStorage._of(moved), dtype=self.dtype)

    def __len__(self) -> int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    size = __len__

    def _place(self, index: int) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} out of range for storage of size {len(self)}")
        return index

    def __getitem__(self, index: int) -> Any:
        if isinstance(index, slice):
            raise RuntimeError(
                "slices are only supported in UntypedStorage.__getitem__: take untyped() first"
            )
        return self._elements()[self._place(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements()[index if isinstance(index, slice) else self._place(index)] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self._elements().tolist()

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return self._untyped_storage.data_ptr()

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def nbytes(self) -> int:
        """Number of bytes."""
        return self._untyped_storage.nbytes()

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self._elements().fill_(value)
        return self

    def copy_(self, source: TypedStorage, non_blocking: bool | None = None) -> TypedStorage:
        """Take the values of a storage with as many elements, converted."""
        self._elements().copy_(source._elements(), bool(non_blocking))
        return self

    def clone(self) -> TypedStorage:
        """A storage of its own with the same elements."""
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def resize_(self, size: int) -> None:
        """Grow to `size` elements; see UntypedStorage.resize_."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def is_shared(self) -> bool:
        """Whether other processes can see the elements."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """See UntypedStorage.share_memory_."""
        self._untyped_storage.share_memory_()
        return self

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Without argument the old class name ("taeda.FloatStorage"); else the elements converted
        to that dtype.
        """
        if dtype is None:
            return f"taeda.{self.pickle_storage_type()}"
        wanted = dtype_named(dtype)
        return self if wanted is self.dtype else self._converted(wanted)

    def pickle_storage_type(self) -> str:
        """The old class name. KeyError for dtypes younger than those names."""
        if _word(self.dtype) not in _NAMES:
            raise KeyError(f"dtype {self.dtype} has no old storage name")
        return f"{_NAMES[_word(self.dtype)]}Storage"

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, **options: Any) -> TypedStorage:
        """A copy of a bytes-like object; see UntypedStorage.from_buffer.
        `dtype` is the default one unless given.
        """
        wanted = dtype or taeda.get_default_dtype()
        return TypedStorage(
            wrap_storage=UntypedStorage.from_buffer(*args, dtype=wanted, **options), dtype=wanted
        )

    @classmethod
    def from_file(
        cls, filename: Any, shared: bool = False, size: int = 0, *, dtype: Any = None
    ) -> TypedStorage:
        """The first `size` elements of a file, mapped; see UntypedStorage.from_file."""
        wanted = dtype or taeda.get_default_dtype()
        mapped = UntypedStorage.from_file(filename, shared, size * wanted.itemsize)
        return TypedStorage(wrap_storage=mapped, dtype=wanted)

    def __repr__(self) -> str:
        return listing(self, f"TypedStorage(dtype={self.dtype}, device={self.device})")


def _wrap(storage: UntypedStorage, dtype: Any) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=dtype)


_wrap.__module__ = "taeda.storage"  # where pickles find it


# ---- the old names ----


class _OldName(type):
    """A name that makes a TypedStorage of its dtype, and knows one when it sees it."""

    def __call__(cls: Any, *args: Any, **options: Any) -> TypedStorage:
        if "dtype" in options:
            raise RuntimeError(f"{cls.__name__} has the dtype {cls.dtype}: it takes no other")
        return TypedStorage(*args, dtype=cls.dtype, **options)

    def __instancecheck__(cls: Any, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype


def _old(dtype: Any, name: str) -> Any:
    def from_buffer(cls: Any, *args: Any, **options: Any) -> TypedStorage:
        return TypedStorage.from_buffer(*args, dtype=dtype, **options)

    def from_file(cls: Any, filename: Any, shared: bool = False, size: int = 0) -> TypedStorage:
        return TypedStorage.from_file(filename, shared, size, dtype=dtype)

    body = {
        "dtype": dtype,
        "from_buffer": classmethod(from_buffer),
        "from_file": classmethod(from_file),
    }
    example = f">>> taeda.{name}(3).dtype, len(taeda.{name}(3))\n({dtype}, 3)"
    doc = f"The old name of a TypedStorage of {dtype}.\n\n{example}"
    return _OldName(name, (TypedStorage,), {**body, "__module__": "taeda", "__doc__": doc})


#: "FloatStorage" and the like
CLASSES: dict[str, Any] = {
    f"{name}Storage": _old(getattr(_core, dtype), f"{name}Storage")
    for dtype, name in _NAMES.items()
}
