"""Engines that need no other process: a group of one rank, and the fake one that pretends to have more."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from .._calls import Call
from .._errors import DistTimeoutError
from .._types import ReduceOp
from .._waiting import Deadline
from .base import Aside, Engine, Message

__all__ = ["FakeEngine"]


class FakeEngine(Engine):
    """Every collective returns at once, as if all ranks had the values of this one and sums were not added.

    With one rank that is the truth; with more it lets programs for many ranks run in one, to see
    shapes and speed.
    """

    def __init__(self, rank: int, size: int, device_type: str = "cpu") -> None:
        super().__init__(rank, size)
        self.device_type = device_type
        self.by_stream = device_type == "cuda"
        if self.by_stream:
            self.aside = Aside()  # type: ignore[method-assign]  # a context that keeps its stream
        self._sent: dict[int, list[Tensor]] = {}

    def arrive(self, call: Call, deadline: Deadline) -> None:
        """All are there."""

    def reach(self, call: Call, deadline: Deadline) -> list[int]:
        return []

    def mark(self) -> Any:
        event = taeda.cuda.Event()
        event.record()
        return event

    def all_reduce(self, tensor: Tensor, op: ReduceOp, deadline: Deadline) -> None:
        """The values stay."""

    def reduce(self, tensor: Tensor, root: int, op: ReduceOp, deadline: Deadline) -> None:
        """The values stay."""

    def broadcast(self, tensor: Tensor, root: int, deadline: Deadline) -> None:
        """The values stay."""

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor, deadline: Deadline) -> None:
        for output in outputs:
            if output.numel() == tensor.numel():
                output.copy_(tensor.view(output.shape))

    def gather(
        self, outputs: Sequence[Tensor], tensor: Tensor, root: int, deadline: Deadline
    ) -> None:
        self.all_gather(outputs, tensor, deadline)

    def scatter(
        self, tensor: Tensor, inputs: Sequence[Tensor], root: int, deadline: Deadline
    ) -> None:
        if inputs:
            tensor.copy_(inputs[self.rank].view(tensor.shape))

    def reduce_scatter(
        self, output: Tensor, flat: Tensor, op: ReduceOp, deadline: Deadline
    ) -> None:
        output.copy_(flat.view(self.size, -1)[self.rank].view(output.shape))

    def all_to_all(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], deadline: Deadline
    ) -> None:
        for output, source in zip(outputs, inputs, strict=True):
            if output.numel() == source.numel():
                output.copy_(source.view(output.shape))

    def send(self, tensor: Tensor, peer: int, tag: int, call: Call) -> Message:
        if peer == self.rank:
            self._sent.setdefault(tag, []).append(tensor.clone())
        return _Ready()

    def receive(self, tensor: Tensor, peer: int | None, tag: int, call: Call) -> Message:
        return _OwnMessage(self, tensor, peer, tag, call)


class _Ready(Message):
    def ready(self) -> bool:
        return True

    def wait(self, deadline: Deadline) -> None:
        """It is complete."""


class _OwnMessage(Message):
    """A message to oneself; from a rank that does not exist comes nothing, at once, if there are
    more than one.
    """

    def __init__(
        self, engine: FakeEngine, tensor: Tensor, peer: int | None, tag: int, call: Call
    ) -> None:
        self._engine, self._tensor, self._tag, self._call = engine, tensor, tag, call
        self._own = engine.size == 1 or peer == engine.rank
        self.source = engine.rank if peer is None else peer
        self._done = not self._own

    def ready(self) -> bool:
        queue = self._engine._sent.get(self._tag)
        if not self._done and queue:
            self._tensor.copy_(queue.pop(0).view(self._tensor.shape))
            self._done = True
        return self._done

    def wait(self, deadline: Deadline) -> None:
        while not self.ready():
            if deadline.passed():
                raise DistTimeoutError(
                    f"{self._call}: nothing was sent within {deadline.seconds:g} s"
                )
            time.sleep(0.001)
