"""The tensors among arguments and results, and their bytes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from taeda import Tensor
from taeda._core_api.programs import op_rows, row_flags
from taeda.storage import UntypedStorage

__all__ = ["bytes_of", "moves_nothing", "storage_of", "tensors_of"]


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


@functools.cache
def _still() -> frozenset[str]:
    view = row_flags["VIEW"] | row_flags["DETACHES"]
    rows = op_rows()
    return frozenset(row[0] for row in rows if row[-1] & view or row[0].startswith("empty"))


def moves_nothing(op: str, args: tuple[Any, ...], made: Any) -> bool:
    """Whether a call only says how memory is looked at, or takes it."""
    if op not in _still() or not isinstance(made, Tensor):
        return False
    source = next(tensors_of(args), None)
    before, after = (None if source is None else storage_of(source)), storage_of(made)
    return before is None or after is None or before.data_ptr() == after.data_ptr()


def storage_of(tensor: Tensor) -> UntypedStorage | None:
    """None for a tensor without memory of its own, and for a parameter of a lazy module."""
    try:
        return tensor.untyped_storage()
    except MemoryError:  # a RuntimeError as well
        raise
    except (RuntimeError, NotImplementedError, ValueError):
        return None
