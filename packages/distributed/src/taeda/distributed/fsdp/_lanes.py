"""Streams of a device on which units gather and reduce, beside the stream that computes.

    gathers      wait for the last write of the shards, not for what is computed; the stream that
                 computes waits for them, and copies the whole tensors out
    reductions   wait for the gradients; the stream that computes waits for them at the end of a
                 backward, or where a gradient is added to another

Memory is given back to the stream that it was taken for, so a buffer that another stream reads is
held until its own stream has waited for that one. Streams are handed out in turn, so a program may have
one of these as well: gradients, which are the reductions' memory, are marked as used by the stream that
computes.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor

from ..device_mesh import DeviceMesh, device_of

__all__ = ["Lanes", "lanes_of"]

_made: dict[int, Lanes] = {}
_lock = threading.Lock()


class Lanes:
    """Both streams of a device, and the buffers that they use."""

    def __init__(self, device: taeda.device) -> None:
        self.device = device
        self._gathers, self._reductions = taeda.cuda.Stream(device), taeda.cuda.Stream(device)
        #: what a gather brought, and the event of its copy
        self._copied: tuple[Any, Any] | None = None
        self._reducing: list[tuple[Any, Any, Any]] = []  # buffers, their stream, the event
        self._caller: Any = None  # the stream that computes, in a reduction

    def mark(self) -> Any:
        """An event behind what the current stream has."""
        return taeda.cuda.current_stream(self.device).record_event()

    # ---- gathers ----

    @contextlib.contextmanager
    def gathering(self, after: Any) -> Iterator[None]:
        """What is called inside is done after the event, and after the copy of what came before."""
        self._gathers.wait_event(after)
        self._pass_on(None)
        with taeda.cuda.stream(self._gathers):
            yield

    def gathered(self) -> Any:
        """An event behind the gathers so far."""
        return self._gathers.record_event()

    def lend(self, tensors: list[Tensor]) -> None:
        """A gather reads these, and nobody may wait for it."""
        for tensor in tensors:
            if tensor.is_cuda:
                tensor.record_stream(self._gathers)

    def copied(self, buffers: Any) -> None:
        """The current stream has what it needs of these buffers of a gather."""
        self._pass_on((buffers, self.mark()))

    def _pass_on(self, copied: Any) -> None:
        before, self._copied = self._copied, copied
        if before is not None:
            self._gathers.wait_event(before[1])

    # ---- reductions ----

    @contextlib.contextmanager
    def reducing(self, buffers: Any) -> Iterator[None]:
        """What is called inside is done after what the current stream has. It reads `buffers`, which
        were made on that stream.
        """
        self._caller = stream = taeda.cuda.current_stream(self.device)
        self._reductions.wait_stream(stream)
        try:
            with taeda.cuda.stream(self._reductions):
                yield
        finally:
            self._reducing.append((buffers, stream, self._reductions.record_event()))

    def hand_out(self, parts: list[Tensor]) -> None:
        """Results of the reduction around, which the stream that computes will use."""
        for part in parts:
            part.record_stream(self._caller)

    @contextlib.contextmanager
    def hooking(self, stream: Any) -> Iterator[None]:
        """What is called inside a reduction goes to a stream of the program's."""
        if stream is None:
            yield
            return
        stream.wait_stream(self._reductions)
        with taeda.cuda.stream(stream):
            yield
        self._reductions.wait_stream(stream)

    def make_room(self) -> None:
        """Before a reduction takes memory: that of the one before serves again."""
        held, self._reducing = self._reducing, []
        for _, stream, event in held:
            stream.wait_event(event)

    def settle(self) -> None:
        """The current stream comes after all reductions."""
        self.make_room()
        taeda.cuda.current_stream(self.device).wait_stream(self._reductions)


def lanes_of(mesh: DeviceMesh) -> Lanes | None:
    """The streams of this process's device; None where tensors of the mesh are the processor's."""
    device = device_of(mesh)
    if device.type == "cpu":
        return None
    index = int(device.index or 0)
    with _lock:
        if index not in _made:
            _made[index] = Lanes(device)
        return _made[index]
