"""Memory that a worker and its parent both see, without a name that could be left behind.

A segment is an anonymous file, mapped by both. The worker makes it, sends its descriptor once, and
closes it; nothing stays open, nothing has a name, so nothing leaks, whoever is killed. The parent
reports when nobody holds a batch any more, and the worker uses the segment again: after the first
batches no page is new to either side.

Pages are taken from the system before anything is written, so a full system refuses a segment, in
which case the batch travels through the socket; it never ends a process by a bus error.
"""

from __future__ import annotations

import errno
import math
import os
import resource
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api import sharing as _sharing

from .plain import is_plain

__all__ = [
    "Arena",
    "Segment",
    "descriptors_are_short",
    "map_bytes",
]

SMALL = 2048  # bytes; below this a copy through the socket is cheaper than a segment
_MOST_AWAY = 4096  # segments that the parent may hold; a process has some 65,000 mappings
# free segments that a worker keeps for later batches, if they are not too large together:
_KEPT = 64
_KEPT_BYTES = 64 << 20  # this, or four times the largest
_RESERVE = 32  # descriptors left to the program


def map_bytes(fd: int, nbytes: int) -> Tensor:
    """The bytes of a file as a tensor that shares them; the descriptor is taken over and closed."""
    return _core.map_storage(fd, 0, nbytes, _sharing.SHARED, None)


def descriptors_are_short(probe: int) -> bool:
    """Whether this process is about to run out of file descriptors; `probe` is any open one."""
    try:
        lowest_free = os.dup(probe)
    except OSError:
        return True
    os.close(lowest_free)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return limit != resource.RLIM_INFINITY and lowest_free > limit - _RESERVE


@dataclass(eq=False)
class Segment:
    """One mapped file, as its worker sees it."""

    id: int
    memory: Tensor  # uint8
    fd: int | None = None  # until the parent has it

    @property
    def idle(self) -> bool:
        """Whether no tensor of this process lies on it."""
        return _core.storage_owners(self.memory) == 1


class Arena:
    """A worker's segments: free ones, those the batch at hand lies on, and those the parent holds."""

    def __init__(self, probe: int) -> None:
        self.allowed = True  # by the parent, for the batch at hand
        self.refusal: str | None = None  # why the last segment could not be made
        self._probe = probe
        self._count = 0
        self._free: list[Segment] = []
        self._fresh: dict[int, Segment] = {}
        self._away: dict[int, Segment] = {}

    def empty(self, sizes: tuple[int, ...], dtype: Any) -> Tensor | None:
        """A tensor with unset elements on a segment; None if it is small or memory is short."""
        segment = self._take(math.prod(sizes) * dtype.itemsize)
        return _on(segment.memory, dtype, sizes) if segment else None

    def stack_room(self, tensors: list[Tensor]) -> Tensor | None:
        """Memory for a stack of these; None for what stays private."""
        first = tensors[0] if tensors else None
        if first is None or any(
            not _plain(t) or t.shape != first.shape or t.dtype != first.dtype for t in tensors
        ):
            return None
        return self.empty((len(tensors), *first.shape), first.dtype)

    def holding(self, tensor: Tensor) -> Segment | None:
        """The segment of the batch at hand that `tensor` lies on."""
        return self._fresh.get(_core.storage_address(tensor))

    def with_bytes(self, data: memoryview) -> Segment | None:
        """A segment that begins with a copy of `data`."""
        segment = self._take(data.nbytes)
        if segment:
            memoryview(segment.memory)[: data.nbytes] = data
        return segment

    def sent(self, used: Iterable[Segment]) -> None:
        """The batch at hand is on its way: what it did not use is free again."""
        for segment in used:
            self._away[segment.id] = segment
            if segment.fd is not None:
                os.close(segment.fd)
                segment.fd = None
        self._free += [s for s in self._fresh.values() if s.id not in self._away]
        self._fresh.clear()

    def returned(self, ids: Iterable[int]) -> None:
        """The parent needs these no longer."""
        self._free += [self._away.pop(i) for i in ids]

    def forgotten(self, ids: Iterable[int]) -> None:
        """The parent keeps these for ever: they must not be written again."""
        for i in ids:
            del self._away[i]

    def dropped(self) -> list[int]:
        """Segments too many, given up; the parent may unmap them."""
        gone = []
        sizes = [segment.memory.numel() for segment in self._free]
        room = max(_KEPT_BYTES, 4 * max(sizes, default=0))
        while len(sizes) > _KEPT or sum(sizes) > room:
            gone.append(self._free.pop(0))
            del sizes[0]
        for segment in gone:
            if segment.fd is not None:
                os.close(segment.fd)
        return [segment.id for segment in gone if segment.fd is None]

    def _take(self, nbytes: int) -> Segment | None:
        if nbytes <= SMALL or not self.allowed:
            return None
        segment = self._reuse(nbytes) or self._new(nbytes)
        if segment:
            self._fresh[_core.storage_address(segment.memory)] = segment
        return segment

    def _reuse(self, nbytes: int) -> Segment | None:
        for i, segment in enumerate(self._free):
            if nbytes <= segment.memory.numel() <= nbytes + nbytes // 8 + 4096 and segment.idle:
                return self._free.pop(i)
        return None

    def _new(self, nbytes: int) -> Segment | None:
        if len(self._away) >= _MOST_AWAY:
            return None
        try:
            if descriptors_are_short(self._probe):
                raise RuntimeError(os.strerror(errno.EMFILE))
            fd = _sharing.reserved_file(nbytes)
        except (OSError, RuntimeError) as error:  # out of memory: the batch goes without a segment
            self.refusal = str(error)
            return None
        self._count += 1
        return Segment(self._count, map_bytes(os.dup(fd), nbytes), fd)


def _on(memory: Tensor, dtype: Any, sizes: tuple[int, ...]) -> Tensor:
    strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return _core.on_storage(memory, dtype, sizes, tuple(strides), 0)


def _plain(tensor: Any) -> bool:
    return type(tensor) is Tensor and is_plain(tensor) and not tensor.requires_grad
