"""Private pools of device memory, and allocators of somebody else."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from taeda._native import core as _core

from ._devices import ordinal_of
from ._snapshot import memory_snapshot

__all__ = ["CUDAPluggableAllocator", "MemPool", "change_current_allocator", "use_mem_pool"]


def _function(path: Any, name: str) -> int:
    """The address of a function of a shared library, which stays loaded."""
    library = ctypes.CDLL(str(path))
    _loaded.append(library)
    try:
        found = library[name]
    except AttributeError:
        raise ValueError(f"{path} has no function {name!r}") from None
    return ctypes.cast(found, ctypes.c_void_p).value or 0


_loaded: list[ctypes.CDLL] = []


class CUDAPluggableAllocator:
    """Memory from two functions of a shared library:

        void *alloc(ssize_t bytes, int device, cudaStream_t stream);
        void free(void *memory, ssize_t bytes, int device, cudaStream_t stream);

    A NULL of the first is memory that is not there. They are called with the allocator's lock held
    and must not make tensors. OSError where the library cannot be opened, ValueError where it has no
    such function.

    Args:
        path_to_so_file: the shared library.
        alloc_fn_name: the name of its function that allocates.
        free_fn_name: the name of the one that frees.

    >>> taeda.cuda.CUDAPluggableAllocator("missing.so", "give", "take")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    OSError: missing.so...
    """

    def __init__(self, path_to_so_file: Any, alloc_fn_name: str, free_fn_name: str) -> None:
        self._give = _function(path_to_so_file, alloc_fn_name)
        self._take = _function(path_to_so_file, free_fn_name)

    def allocator(self) -> CUDAPluggableAllocator:
        """What `MemPool` takes: this object."""
        return self


def _addresses(allocator: Any) -> tuple[int, int]:
    if not isinstance(allocator, CUDAPluggableAllocator):
        raise TypeError(f"wanted a CUDAPluggableAllocator, got {type(allocator).__name__}")
    return allocator._give, allocator._take


def change_current_allocator(allocator: CUDAPluggableAllocator) -> None:
    """Every tensor's memory comes from `allocator` from now on, without being kept for later ones.
    RuntimeError once a tensor of a device was made.

    Args:
        allocator: two functions of a shared library.

    >>> taeda.cuda.change_current_allocator("library.so")
    Traceback (most recent call last):
    TypeError: wanted a CUDAPluggableAllocator, got str
    """
    _core.cuda_pool_replace(*_addresses(allocator))


class MemPool:
    """Memory of devices that serves nobody else: what is allocated within `use_mem_pool` comes from
    its own segments, which an `allocator` may give.

    When the object is gone, its segments go back as soon as no tensor lies in them.

    Args:
        allocator: whose functions give the segments; None is the driver's.

    >>> if taeda.cuda.is_available():
    ...     pool = taeda.cuda.MemPool()
    ...     with taeda.cuda.use_mem_pool(pool):
    ...         x = taeda.ones(4, device="cuda")
    ...     assert pool.snapshot()  # the segment that `x` lies in
    """

    def __init__(self, allocator: CUDAPluggableAllocator | None = None) -> None:
        give, take = (0, 0) if allocator is None else _addresses(allocator)
        self._handle, self._allocator = 0, allocator
        self._handle, number = _core.cuda_pool_new(give, take)
        self._id = (0, number)

    @property
    def allocator(self) -> CUDAPluggableAllocator | None:
        """Whose functions give the segments; None is the driver's."""
        return self._allocator

    @property
    def id(self) -> tuple[int, int]:
        """Two numbers that no other pool has."""
        return self._id

    def use_count(self) -> int:
        """This object, and how many `use_mem_pool` are entered."""
        return int(_core.cuda_pool_owners(self._handle))

    def snapshot(self) -> list[dict[str, Any]]:
        """The pool's segments, as `memory_snapshot` gives them."""
        return memory_snapshot(self._id)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a MemPool cannot be copied or pickled: it owns memory of this process")

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            _core.cuda_pool_drop(self._handle)
            self._handle = 0


@contextmanager
def use_mem_pool(pool: MemPool, device: Any = None) -> Iterator[None]:
    """What this thread allocates on a device, the current one by default, comes from `pool`.

    Args:
        pool: where memory comes from within.
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     with taeda.cuda.use_mem_pool(taeda.cuda.MemPool()):
    ...         x = taeda.ones(4, device="cuda")
    """
    if not isinstance(pool, MemPool):
        raise TypeError(f"wanted a MemPool, got {type(pool).__name__}")
    index = ordinal_of(device)
    before = _core.cuda_pool_enter(index, pool._handle)
    try:
        yield
    finally:
        _core.cuda_pool_enter(index, before)
