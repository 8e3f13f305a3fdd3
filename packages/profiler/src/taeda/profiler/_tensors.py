"""The tensors among arguments and results, and their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from taeda import Tensor
from taeda.storage import UntypedStorage

__all__ = ["bytes_of", "storage_of", "tensors_of"]


def tensors_of(value: Any) -> Iterator[Tensor]:
    """The tensors of a value: itself, or those within its tuples and lists."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_of(item)


def bytes_of(tensors: Iterable[Tensor]) -> int:
    """Bytes that are read or written at least once."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def storage_of(tensor: Tensor) -> UntypedStorage | None:
    """None for a tensor without memory of its own, and for a parameter of a lazy module."""
    try:
        return tensor.untyped_storage()
    except MemoryError:  # a RuntimeError as well
        raise
    except (RuntimeError, NotImplementedError, ValueError):
        return None
