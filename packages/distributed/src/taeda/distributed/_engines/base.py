"""What an engine does: collectives on flat, contiguous tensors that were checked before.
Everything blocks, with a deadline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import taeda
from taeda import Tensor

from .._calls import Call
from .._sums.kernels import divide
from .._types import ReduceOp
from .._waiting import Deadline

__all__ = ["Aside", "Engine", "Message"]


class Engine:
    """One group's engine on one rank. `rank` and peers are ranks of the group.

    `arrive` comes first in every collective: it waits until all ranks are there and compares what
    they called, so nothing is moved before all agree. A later failure leaves the group broken.
    """

    device_type = "cpu"  # of the tensors that it carries
    by_stream = False  # does a call only begin its work, on the device's current stream?

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.patient = False  # does a thread beside the computing one wait?

    def arrive(self, call: Call, deadline: Deadline) -> None:
        """Wait for all ranks. DistMismatchError, DistPeerDiedError, DistTimeoutError."""
        raise NotImplementedError

    def reach(self, call: Call, deadline: Deadline) -> list[int]:
        """As `arrive`, but return the ranks that did not come in time instead of raising."""
        raise NotImplementedError

    def all_reduce(self, tensor: Tensor, op: ReduceOp, deadline: Deadline) -> None:
        raise NotImplementedError

    def mean(self, tensor: Tensor, deadline: Deadline) -> None:
        """`all_reduce` by ReduceOp.AVG, which gives the sum, and the division by the ranks."""
        self.all_reduce(tensor, ReduceOp.AVG, deadline)
        divide(tensor, self.size)

    def reduce(self, tensor: Tensor, root: int, op: ReduceOp, deadline: Deadline) -> None:
        raise NotImplementedError

    def broadcast(self, tensor: Tensor, root: int, deadline: Deadline) -> None:
        raise NotImplementedError

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor, deadline: Deadline) -> None:
        raise NotImplementedError

    def all_gather_flat(self, output: Tensor, tensor: Tensor, deadline: Deadline) -> None:
        self.all_gather(output.view(self.size, -1).unbind(0), tensor, deadline)

    def gather(
        self, outputs: Sequence[Tensor], tensor: Tensor, root: int, deadline: Deadline
    ) -> None:
        raise NotImplementedError

    def scatter(
        self, tensor: Tensor, inputs: Sequence[Tensor], root: int, deadline: Deadline
    ) -> None:
        raise NotImplementedError

    def reduce_scatter(
        self, output: Tensor, flat: Tensor, op: ReduceOp, deadline: Deadline
    ) -> None:
        """`flat` holds as many parts as there are ranks, each as long as `output`."""
        raise NotImplementedError

    def all_to_all(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], deadline: Deadline
    ) -> None:
        raise NotImplementedError

    def barrier(self, deadline: Deadline) -> None:
        """`arrive` was one."""

    def send(self, tensor: Tensor, peer: int, tag: int, call: Call) -> Message:
        raise NotImplementedError

    def receive(self, tensor: Tensor, peer: int | None, tag: int, call: Call) -> Message:
        """Begin to receive; `peer` is None for any."""
        raise NotImplementedError

    def allocate(self, nbytes: int, deadline: Deadline) -> Tensor | None:
        """Memory (uint8) in which `all_reduce` of this engine is quickest, or None.
        Every rank calls it, after `arrive`.
        """
        return None

    def check_reduction(self, op: ReduceOp, dtype: taeda.dtype) -> None:
        """ValueError for a reduction that this engine does not have. Before `arrive`."""

    def batching(self, tensors: Sequence[Tensor]) -> AbstractContextManager[None]:
        """Messages that are begun inside may go in any order."""
        return nullcontext()

    def aside(self, tensors: Sequence[Tensor]) -> AbstractContextManager[Any]:
        """What is begun inside goes to a stream of the engine's own, after what the current one has."""
        return nullcontext()

    def mark(self) -> Any:
        """An event behind all that was begun; of engines that go by streams."""
        raise NotImplementedError

    def finish(self, call: Call) -> None:
        """The collective is complete on this rank."""

    def give_up(self, error: BaseException) -> None:
        """A collective has failed on this rank: let the others know."""

    def close(self) -> None:
        """Release what the engine holds. No rank waits for another here."""


class Aside:
    """A stream for work beside the one that computes, made when it is first needed."""

    def __init__(self) -> None:
        self._stream: Any = None

    @contextmanager
    def __call__(self, tensors: Sequence[Tensor]) -> Iterator[None]:
        """What is called inside comes after what the current stream has. Memory of `tensors` does not
        serve again before it is done.
        """
        if not tensors:
            yield
            return
        device = tensors[0].device
        if self._stream is None:
            self._stream = taeda.cuda.Stream(device)
        self._stream.wait_stream(taeda.cuda.current_stream(device))
        for tensor in tensors:
            tensor.record_stream(self._stream)
        with taeda.cuda.stream(self._stream):
            yield


class Message:
    """A send or receive that was begun."""

    source = -1

    def ready(self) -> bool:
        """Is it complete? Raises what went wrong."""
        raise NotImplementedError

    def wait(self, deadline: Deadline) -> None:
        """Until it is complete. DistTimeoutError or DistPeerDiedError."""
        raise NotImplementedError
