"""Collectives over NCCL, for tensors of one GPU a process.
Work goes to the stream that is current when it is called, or with async_op to one of the group's own,
behind what the current one has; a Work's wait orders the current stream behind that.

The ranks meet on the processor first, as with the other engines, so a call that differs or a rank
that is missing is told before anything is begun on a device. After that nothing blocks: a thread
watches what was begun, and aborts the communicator when it is overdue, so that no wait for the
device lasts longer than the group's timeout.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import taeda
from taeda import Tensor

from .._calls import Call
from .._errors import DistBackendError, DistPeerDiedError, DistTimeoutError
from .._meeting.arriving import Arrivals
from .._meeting.facts import Facts, meet, node_name
from .._stores import Store
from .._types import ReduceOp
from .._waiting import Deadline, wait_until
from . import nccl_library
from .base import Aside, Engine, Message

__all__ = ["NcclEngine"]

WATCH_EVERY = 0.05  # seconds between looks at the device


class NcclEngine(Engine):
    """One group on NCCL. Its communicator is made in the first call, on the device of that call's tensors."""

    device_type = "cuda"
    by_stream = True

    def __init__(
        self, store: Store, rank: int, ranks: Sequence[int], timeout: timedelta, name: str
    ) -> None:
        super().__init__(list(ranks).index(rank), len(ranks))
        self._library = nccl_library.library()
        self._store, self._seconds = store, timeout.total_seconds()
        everybody = meet(store, rank, list(ranks), Facts(os.getpid(), node_name()), timeout)
        self._arrivals = Arrivals(
            store, self.rank, list(ranks), everybody, timeout, self._gather_by_store
        )
        self._meetings = 0
        self._comm: int | None = None
        self._device = -1
        self._begun: deque[tuple[Any, Deadline, str]] = deque()  # event, until when, what
        self._watch: threading.Thread | None = None
        self._error: BaseException | None = None
        self._batch: list[_NcclMessage] | None = None
        self._closed = False
        self.aside = Aside()  # type: ignore[method-assign]  # a context that keeps its stream

    # ---- meeting ----

    def arrive(self, call: Call, deadline: Deadline) -> None:
        self._check()
        self._arrivals.arrive(call, deadline, self.patient)

    def reach(self, call: Call, deadline: Deadline) -> list[int]:
        return self._arrivals.reach(call, deadline, self.patient)

    def _gather_by_store(self, mine: bytes, everyone: bytearray) -> Any:
        self._meetings += 1
        return _StoreGather(self._store, self._meetings, self.rank, self.size, mine, everyone)

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def check_reduction(self, op: ReduceOp, dtype: taeda.dtype) -> None:
        nccl_library.reduction(op, dtype)

    # ---- the device ----

    def _communicator(self, tensor: Tensor, deadline: Deadline) -> int:
        index = tensor.device.index or 0
        if self._comm is None:
            self._device, self._comm = index, self._make(index, deadline)
        if index != self._device:
            raise DistBackendError(
                f"the group works on cuda:{self._device} since its first call, and this tensor is on "
                f"cuda:{index}: a process has one GPU in a group"
            )
        return self._comm

    def _make(self, index: int, deadline: Deadline) -> int:
        """On a thread of its own, because it waits for all ranks and knows no deadline."""
        if self.rank == 0:
            self._store.set("nccl", self._library.new_id())
        self._store.wait(["nccl"], timedelta(seconds=max(deadline.left(), 0.001)))
        identity = self._store.get("nccl")
        made: list[Any] = []

        def begin() -> None:
            try:
                with taeda.cuda.device(index):
                    taeda.empty(1, device="cuda")  # the device's context is this thread's now
                    made.append(self._library.new_communicator(self.size, identity, self.rank))
            except Exception as error:  # noqa: BLE001 - the thread that waits raises it
                made.append(error)

        threading.Thread(target=begin, name="taeda-nccl-start", daemon=True).start()
        if not wait_until(lambda: bool(made), deadline, self._arrivals.look, patient=True):
            raise DistTimeoutError(
                f"NCCL's communicator of {self.size} ranks was not there after "
                f"{deadline.seconds:g} s: {self._at()}"
            )
        if isinstance(made[0], Exception):
            raise made[0]
        return int(made[0])

    def _at(self) -> str:
        return str(self._arrivals.call or "the first call")

    @contextlib.contextmanager
    def _on(self, tensor: Tensor, deadline: Deadline) -> Iterator[tuple[int, int]]:
        """The communicator and the stream; what is begun inside is watched."""
        comm = self._communicator(tensor, deadline)
        with taeda.cuda.device(self._device):
            yield comm, taeda.cuda.current_stream().cuda_stream
            self._watch_over(self.mark(), deadline, self._at())

    def mark(self) -> Any:
        """An event behind all that was begun on the current stream."""
        with taeda.cuda.device(max(self._device, 0)):
            event = taeda.cuda.Event()
            event.record()
        return event

    @contextlib.contextmanager
    def _together(self) -> Iterator[None]:
        self._library.call("GroupStart")
        try:
            yield
        finally:
            self._library.call("GroupEnd", comm=self._comm)

    def _call(self, name: str, *arguments: Any) -> None:
        self._library.call(name, *arguments, comm=self._comm)

    # ---- collectives ----

    def all_reduce(self, tensor: Tensor, op: ReduceOp, deadline: Deadline) -> None:
        kind, number = nccl_library.reduction(op, tensor.dtype)
        at, count = tensor.data_ptr(), _count(tensor)
        with self._on(tensor, deadline) as (comm, stream):
            self._call("AllReduce", at, at, count, kind, number, comm, stream)

    def reduce(self, tensor: Tensor, root: int, op: ReduceOp, deadline: Deadline) -> None:
        kind, number = nccl_library.reduction(op, tensor.dtype)
        at, count = tensor.data_ptr(), _count(tensor)
        with self._on(tensor, deadline) as (comm, stream):
            self._call("Reduce", at, at, count, kind, number, root, comm, stream)

    def broadcast(self, tensor: Tensor, root: int, deadline: Deadline) -> None:
        with self._on(tensor, deadline) as (comm, stream):
            self._spread(tensor, root, comm, stream)

    def _spread(self, tensor: Tensor, root: int, comm: int, stream: int) -> None:
        at = tensor.data_ptr()
        self._call("Broadcast", at, at, _nbytes(tensor), nccl_library.BYTES, root, comm, stream)

    def all_gather_flat(self, output: Tensor, tensor: Tensor, deadline: Deadline) -> None:
        into, at, nbytes = output.data_ptr(), tensor.data_ptr(), _nbytes(tensor)
        with self._on(tensor, deadline) as (comm, stream):
            self._call("AllGather", at, into, nbytes, nccl_library.BYTES, comm, stream)

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor, deadline: Deadline) -> None:
        """As many broadcasts as there are ranks, begun together: shapes may differ."""
        outputs[self.rank].copy_(tensor.view(outputs[self.rank].shape))
        with self._on(tensor, deadline) as (comm, stream), self._together():
            for rank, output in enumerate(outputs):
                if output.numel():
                    self._spread(output, rank, comm, stream)

    def reduce_scatter(
        self, output: Tensor, flat: Tensor, op: ReduceOp, deadline: Deadline
    ) -> None:
        kind, number = nccl_library.reduction(op, flat.dtype)
        at, into, count = flat.data_ptr(), output.data_ptr(), _count(output)
        with self._on(flat, deadline) as (comm, stream):
            self._call("ReduceScatter", at, into, count, kind, number, comm, stream)

    def gather(
        self, outputs: Sequence[Tensor], tensor: Tensor, root: int, deadline: Deadline
    ) -> None:
        sources = list(enumerate(outputs)) if self.rank == root else []
        self._exchange([(root, tensor)], sources, tensor, deadline)

    def scatter(
        self, tensor: Tensor, inputs: Sequence[Tensor], root: int, deadline: Deadline
    ) -> None:
        sent = list(enumerate(inputs)) if self.rank == root else []
        self._exchange(sent, [(root, tensor)], tensor, deadline)

    def all_to_all(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], deadline: Deadline
    ) -> None:
        self._exchange(list(enumerate(inputs)), list(enumerate(outputs)), outputs[0], deadline)

    def _exchange(
        self,
        sent: Sequence[tuple[int, Tensor]],
        got: Sequence[tuple[int, Tensor]],
        near: Tensor,
        deadline: Deadline,
    ) -> None:
        """Messages to and from peers, begun together. What stays here is copied."""
        own = [tensor for peer, tensor in sent if peer == self.rank]
        for peer, tensor in got:
            if peer == self.rank:
                tensor.copy_(own[0].view(tensor.shape))
        with self._on(near, deadline) as (comm, stream), self._together():
            for name, pairs in (("Send", sent), ("Recv", got)):
                for peer, tensor in pairs:
                    if peer != self.rank and tensor.numel():
                        self._message(name, tensor, peer, comm, stream)

    def _message(self, name: str, tensor: Tensor, peer: int, comm: int, stream: int) -> None:
        self._call(name, tensor.data_ptr(), _nbytes(tensor), nccl_library.BYTES, peer, comm, stream)

    def barrier(self, deadline: Deadline) -> None:
        """Until all that the ranks began before has been done on their devices."""
        if self._comm is None:  # nothing was begun
            return
        one = taeda.zeros(1, dtype=taeda.uint8, device=f"cuda:{self._device}")
        self.all_reduce(one, ReduceOp.SUM, deadline)
        event = self.mark()
        if not wait_until(event.query, deadline, self._look, True):
            raise DistTimeoutError(
                f"{self._at()}: the devices were not done in {deadline.seconds:g} s"
            )

    def _look(self) -> None:
        self._check()
        self._arrivals.look()

    # ---- messages ----

    def send(self, tensor: Tensor, peer: int, tag: int, call: Call) -> Message:
        return self._begin_message("Send", tensor, peer, tag, call)

    def receive(self, tensor: Tensor, peer: int | None, tag: int, call: Call) -> Message:
        if peer is None:
            raise ValueError(f"{call.name}: NCCL receives from a rank that is named, not from any")
        return self._begin_message("Recv", tensor, peer, tag, call)

    def _begin_message(self, name: str, tensor: Tensor, peer: int, tag: int, call: Call) -> Message:
        if tag:
            raise ValueError(f"{call.name}: NCCL's messages have no tags (this one has {tag})")
        if peer == self.rank and self._batch is None:
            raise ValueError(
                f"{call.name}: to itself a rank sends in batch_isend_irecv only, on NCCL"
            )
        self._check()
        self._arrivals.call = call
        message = _NcclMessage(self, tensor, peer)
        deadline = Deadline(self._seconds)
        comm = self._communicator(tensor, deadline)
        with taeda.cuda.device(self._device):
            stream = taeda.cuda.current_stream().cuda_stream
            self._message(name, tensor, peer, comm, stream)
        if self._batch is None:
            message.mark(deadline, str(call))
        else:
            self._batch.append(message)
        return message

    @contextlib.contextmanager
    def batching(self, tensors: Sequence[Tensor]) -> Iterator[None]:
        deadline = Deadline(self._seconds)
        self._communicator(tensors[0], deadline)  # not inside of a group of calls
        self._batch = []
        try:
            with self._together():
                yield
            for message in self._batch:
                message.mark(deadline, "a batch of messages")
        finally:
            self._batch = None

    # ---- the watch, and the end ----

    def _watch_over(self, event: Any, deadline: Deadline, what: str) -> None:
        self._begun.append((event, deadline, what))
        if self._watch is None:
            self._watch = threading.Thread(target=self._run_watch, name="taeda-nccl", daemon=True)
            self._watch.start()

    def _run_watch(self) -> None:
        pause = threading.Event()
        while not self._closed and self._error is None:
            pause.wait(WATCH_EVERY)
            while self._begun and self._begun[0][0].query():
                self._begun.popleft()
            if self._begun and (error := self._judge(*self._begun[0])) is not None:
                self._error = error
                self._abort()

    def _judge(self, event: Any, deadline: Deadline, what: str) -> BaseException | None:
        """What is wrong with the oldest work that is not done."""
        ranks, comm = self._arrivals.ranks, self._comm
        if gone := self._arrivals.peers.gone():
            names = ", ".join(f"rank {ranks[rank]}" for rank in gone)
            return DistPeerDiedError(
                f"{what}: the process of {names} has ended while the device worked",
                [ranks[rank] for rank in gone],
            )
        if comm is not None and (words := self._library.trouble(comm)):
            return DistBackendError(f"{what}: {words}")
        if deadline.passed():
            return DistTimeoutError(
                f"{what}: all ranks began, but this device was not done after {deadline.seconds:g} s"
            )
        return None

    def _abort(self) -> None:
        comm, self._comm = self._comm, None
        if comm is not None:
            with contextlib.suppress(DistBackendError):  # it is broken: that is why
                self._library.call("CommAbort", comm)

    def finish(self, call: Call) -> None:
        self._arrivals.finish(call)

    def give_up(self, error: BaseException) -> None:
        self._error = self._error or error
        self._arrivals.give_up(error)
        self._abort()

    def close(self) -> None:
        self._closed = True
        comm, self._comm = self._comm, None
        if comm is not None:
            with taeda.cuda.device(self._device):
                taeda.cuda.synchronize()
            self._library.call("CommDestroy", comm)
        self._arrivals.close()


class _NcclMessage(Message):
    """A message on the stream. Waiting for it orders the current stream behind it."""

    def __init__(self, engine: NcclEngine, tensor: Tensor, peer: int) -> None:
        self._engine, self._keep, self.source = engine, tensor, peer
        self._event: Any = None

    def mark(self, deadline: Deadline, what: str) -> None:
        self._event = self._engine.mark()
        self._engine._watch_over(self._event, deadline, what)

    def ready(self) -> bool:
        self._engine._check()
        return self._event is not None and bool(self._event.query())

    def wait(self, deadline: Deadline) -> None:
        self._engine._check()
        self._event.wait()


class _StoreGather:
    """Fixed records of all ranks through the store, for groups on several machines."""

    def __init__(
        self, store: Store, turn: int, rank: int, size: int, mine: bytes, everyone: bytearray
    ) -> None:
        self._store, self._everyone, self._mine = store, everyone, mine
        self._keys = [f"meeting/{turn}/{other}" for other in range(size)]
        store.set(self._keys[rank], mine)
        if turn > 2:  # all have read that one: they came to the next
            store.delete_key(f"meeting/{turn - 2}/{rank}")

    def Test(self) -> bool:  # noqa: N802 - as a request of MPI's
        if not self._store.check(self._keys):
            return False
        self._everyone[:] = b"".join(self._store.multi_get(self._keys))
        return True


def _nbytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _count(tensor: Tensor) -> int:
    return tensor.numel() * (2 if tensor.dtype.is_complex else 1)
