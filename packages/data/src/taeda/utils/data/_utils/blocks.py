"""Tensors of one batch that lie on one memory: which of them are sent as views of one block.

Views that overlap or touch are one block, so that what is written to one is seen in the others, as
where they were made, and a thousand slices of a tensor are one copy. Those that lie apart are
copied one by one: a batch may hold two rows of a huge data set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core

from .plain import is_plain

__all__ = ["Block", "blocks_of"]

_ALIGNED = 16  # bytes; a multiple of every element's size
_MOST_GAPS = 4  # times what the tensors hold; a block with more holes than that is not worth it


@dataclass(eq=False)
class Block:
    """Bytes `start` to `stop` of the storage of `of`, and the copy that is sent."""

    of: Tensor
    start: int
    stop: int
    copy: Tensor | None = None

    def bytes(self) -> Tensor:
        """The bytes where they are."""
        return _core.on_storage(self.of, taeda.uint8, (self.stop - self.start,), (1,), self.start)

    def place(self, tensor: Tensor) -> int:
        """The offset of a tensor in the copy, in its elements."""
        return tensor.storage_offset() - self.start // tensor.element_size()


def blocks_of(batch: Any) -> dict[int, Block]:
    """The block of every tensor that shares one, by its id, in nested lists, tuples and dicts."""
    by_storage: dict[int, list[tuple[int, int, Tensor]]] = {}
    for tensor in {id(t): t for t in _tensors(batch, 0)}.values():
        span = _span(tensor)
        if span is not None:
            by_storage.setdefault(_core.storage_address(tensor), []).append((*span, tensor))
    found: dict[int, Block] = {}
    for spans in by_storage.values():
        if len(spans) > 1:
            for together in _touching(spans):
                found |= _block(together)
    return found


def _tensors(value: Any, depth: int) -> Iterator[Tensor]:
    if type(value) is Tensor:
        yield value
    elif depth < 16 and isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part, depth + 1)
    elif depth < 16 and isinstance(value, dict):
        for part in value.values():
            yield from _tensors(part, depth + 1)


def _span(tensor: Tensor) -> tuple[int, int] | None:
    """Its first byte and the one behind its last; None for what is sent alone."""
    if not is_plain(tensor) or tensor.is_meta or not tensor.numel():
        return None
    if tensor.is_conj() or tensor.is_neg():
        return None
    last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    start = tensor.storage_offset() * tensor.element_size()
    return start, start + (last + 1) * tensor.element_size()


def _touching(spans: list[tuple[int, int, Tensor]]) -> Iterator[list[tuple[int, int, Tensor]]]:
    """Groups of those that overlap or lie side by side."""
    group: list[tuple[int, int, Tensor]] = []
    reached = -1
    for span in sorted(spans, key=lambda s: s[:2]):
        if group and span[0] > reached:
            yield group
            group = []
        group.append(span)
        reached = max(reached, span[1]) if len(group) > 1 else span[1]
    yield group


def _block(group: list[tuple[int, int, Tensor]]) -> dict[int, Block]:
    start, stop = group[0][0] // _ALIGNED * _ALIGNED, max(s[1] for s in group)
    held = sum(t.numel() * t.element_size() for _, _, t in group)
    if len(group) == 1 or stop - start > _MOST_GAPS * held + _ALIGNED:
        return {}
    block = Block(group[0][2], start, stop)
    return {id(t): block for _, _, t in group}
