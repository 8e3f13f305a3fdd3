"""Collectives over MPI. Every call is begun without blocking and polled, so that no wait passes its
deadline.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import taeda
from taeda import Tensor

from .._calls import Call
from .._errors import DistBackendError, DistMismatchError
from .._meeting.arriving import Arrivals
from .._meeting.facts import Facts, meet, node_name
from .._mpi import world as mpi_world
from .._stores import Store
from .._sums.brought import deal, join, slices
from .._sums.window import Windows, can_bring
from .._types import RedOpType, ReduceOp
from .._waiting import Deadline, wait_until
from .base import Engine, Message

__all__ = ["MpiEngine"]


class MpiEngine(Engine):
    """One group on MPI. `ranks` are its members' ranks in the default group."""

    def __init__(
        self, store: Store, rank: int, ranks: Sequence[int], timeout: timedelta, name: str
    ) -> None:
        super().__init__(list(ranks).index(rank), len(ranks))
        self._mpi = mpi_world.start(store, rank, len(ranks), timeout)
        facts = Facts(os.getpid(), node_name(), f"{mpi_world.job}:{mpi_world.world_rank()}")
        everybody = meet(store, rank, list(ranks), facts, timeout)
        self._comm = self._communicator(everybody, name)
        self._arrivals = Arrivals(
            store, self.rank, list(ranks), everybody, timeout, self._iallgather
        )
        mates = self._arrivals.mates
        self._windows = Windows(mates) if mates is not None and mates.size > 1 else None
        self._arrivals.prepare = self._prepare
        self._types = _types(self._mpi)
        self.without_head: list[_Received] = []
        self._ops = _ops(self._mpi)

    def _communicator(self, everybody: list[Facts], name: str) -> Any:
        jobs = {facts.mpi.rpartition(":")[0] for facts in everybody}
        if len(jobs) > 1:
            raise DistBackendError(
                "these processes were not started as one MPI job: a process that has once been in "
                "a group can "
                "start another only with processes of that first group"
            )
        members = [int(facts.mpi.rpartition(":")[2]) for facts in everybody]
        world = self._mpi.COMM_WORLD
        tag = zlib.crc32(name.encode()) & 0x7FFF
        comm = world.Create_group(world.Get_group().Incl(members), tag)
        comm.Set_errhandler(self._mpi.ERRORS_RETURN)  # as exceptions
        return comm

    # ---- waiting ----

    def arrive(self, call: Call, deadline: Deadline) -> None:
        self._arrivals.arrive(call, deadline, self.patient)

    def reach(self, call: Call, deadline: Deadline) -> list[int]:
        return self._arrivals.reach(call, deadline, self.patient)

    def _finish(self, request: Any, deadline: Deadline) -> None:
        if not wait_until(request.Test, deadline, self._arrivals.look, self.patient, moves=True):
            raise self._arrivals.late(deadline)

    def _iallgather(self, mine: bytes, everyone: bytearray) -> Any:
        return self._comm.Iallgather([mine, self._mpi.BYTE], [everyone, self._mpi.BYTE])

    # ---- memory ----

    def _raw(self, tensor: Tensor) -> list[Any]:
        """A tensor's bytes, as MPI takes them."""
        nbytes = tensor.numel() * tensor.element_size()
        return [self._mpi.memory.fromaddress(tensor.data_ptr(), nbytes), nbytes, self._mpi.BYTE]

    def _typed(self, tensor: Tensor) -> list[Any]:
        nbytes = tensor.numel() * tensor.element_size()
        memory = self._mpi.memory.fromaddress(tensor.data_ptr(), nbytes)
        return [memory, tensor.numel(), self._types[tensor.dtype]]

    def _op(self, tensor: Tensor, op: ReduceOp) -> Any:
        kind = RedOpType.SUM if op.op in (RedOpType.AVG, RedOpType.PREMUL_SUM) else op.op
        return self._ops[tensor.dtype is taeda.bool, kind]

    # ---- collectives ----

    def _prepare(self, call: Call) -> None:
        """Before all meet: lay what are few values where the others find them, or say where the
        values lie.
        """
        windows = self._windows
        if windows is None:
            return
        place = 0
        if call.payload is not None:
            values, op = call.payload
            if self._arrivals.one_node and can_bring(values, op):
                call.brought = windows.bring(values, call.seq)
            place = 0 if call.brought else windows.place(values)
        windows.mates.board.lie(place)

    def all_reduce(self, tensor: Tensor, op: ReduceOp, deadline: Deadline) -> None:
        if self._windows is not None and self._arrivals.one_node:
            self._add_up(self._windows, tensor, op, deadline, 1)
            return
        if tensor.dtype not in self._types:
            wide = tensor.float()
            self.all_reduce(wide, op, deadline)
            tensor.copy_(wide)
            return
        buffer, kind = self._typed(tensor), self._op(tensor, op)
        self._finish(self._comm.Iallreduce(self._mpi.IN_PLACE, buffer, kind), deadline)

    def mean(self, tensor: Tensor, deadline: Deadline) -> None:
        if self._windows is not None and self._arrivals.one_node:
            self._add_up(self._windows, tensor, ReduceOp.AVG, deadline, self.size)
        else:
            super().mean(tensor, deadline)

    def _add_up(
        self, windows: Windows, tensor: Tensor, op: ReduceOp, deadline: Deadline, by: int
    ) -> None:
        """In shared memory, and divided `by` a number of ranks."""
        if parts := self._arrivals.brought():
            windows.add_brought(parts, tensor, op, by)
        else:
            windows.all_reduce(tensor, op, deadline, self.patient, by)

    def reduce(self, tensor: Tensor, root: int, op: ReduceOp, deadline: Deadline) -> None:
        if tensor.dtype not in self._types:
            wide = tensor.float()
            self.reduce(wide, root, op, deadline)
            if self.rank == root:
                tensor.copy_(wide)
            return
        buffer, kind = self._typed(tensor), self._op(tensor, op)
        into = buffer if self.rank == root else None
        send = self._mpi.IN_PLACE if self.rank == root else buffer
        self._finish(self._comm.Ireduce(send, into, kind, root), deadline)

    def broadcast(self, tensor: Tensor, root: int, deadline: Deadline) -> None:
        if parts := self._arrivals.brought():
            tensor.copy_(parts[root])
            return
        self._finish(self._comm.Ibcast(self._raw(tensor), root), deadline)

    def all_gather_flat(self, output: Tensor, tensor: Tensor, deadline: Deadline) -> None:
        if parts := self._arrivals.brought():
            join(parts, output)
            return
        sent = self._raw(tensor)
        into = [self._raw(output)[0], sent[1], self._mpi.BYTE]  # the count is that of one rank
        self._finish(self._comm.Iallgather(sent, into), deadline)

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor, deadline: Deadline) -> None:
        flat, parts, counts = _joined(outputs)
        buffer = [self._raw(flat)[0], counts, None, self._mpi.BYTE]
        self._finish(self._comm.Iallgatherv(self._raw(tensor), buffer), deadline)
        _spread(parts, outputs)

    def gather(
        self, outputs: Sequence[Tensor], tensor: Tensor, root: int, deadline: Deadline
    ) -> None:
        if self.rank != root:
            self._finish(self._comm.Igatherv(self._raw(tensor), None, root), deadline)
            return
        flat, parts, counts = _joined(outputs)
        buffer = [self._raw(flat)[0], counts, None, self._mpi.BYTE]
        self._finish(self._comm.Igatherv(self._raw(tensor), buffer, root), deadline)
        _spread(parts, outputs)

    def scatter(
        self, tensor: Tensor, inputs: Sequence[Tensor], root: int, deadline: Deadline
    ) -> None:
        buffer, flat = None, None
        if self.rank == root:
            flat, parts, counts = _joined(inputs)
            _collect(parts, inputs)
            buffer = [self._raw(flat)[0], counts, None, self._mpi.BYTE]
        self._finish(self._comm.Iscatterv(buffer, self._raw(tensor), root), deadline)

    def reduce_scatter(
        self, output: Tensor, flat: Tensor, op: ReduceOp, deadline: Deadline
    ) -> None:
        if self._windows is not None and (parts := self._arrivals.brought()):
            self._windows.add_brought(slices(parts, self.rank), output, op)
            return
        if output.dtype not in self._types:
            wide = taeda.empty(output.numel())
            self.reduce_scatter(wide, flat.float(), op, deadline)
            output.copy_(wide)
            return
        kind = self._op(flat, op)
        counts = [output.numel()] * self.size
        request = self._comm.Ireduce_scatter(self._typed(flat), self._typed(output), counts, kind)
        self._finish(request, deadline)

    def all_to_all(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], deadline: Deadline
    ) -> None:
        if parts := self._arrivals.brought():
            deal(parts, outputs, self.rank)
            return
        sent, sent_parts, sent_counts = _joined(inputs)
        _collect(sent_parts, inputs)
        got, got_parts, got_counts = _joined(outputs)
        request = self._comm.Ialltoallv(
            [self._raw(sent)[0], sent_counts, None, self._mpi.BYTE],
            [self._raw(got)[0], got_counts, None, self._mpi.BYTE],
        )
        self._finish(request, deadline)
        _spread(got_parts, outputs)

    # ---- messages ----

    def send(self, tensor: Tensor, peer: int, tag: int, call: Call) -> Message:
        head = _head(tensor)
        requests = [
            self._comm.Isend([head, self._mpi.BYTE], peer, 2 * tag),
            self._comm.Isend(self._raw(tensor), peer, 2 * tag + 1),
        ]
        return _Sent(self, call, requests, (head, tensor), peer)

    def receive(self, tensor: Tensor, peer: int | None, tag: int, call: Call) -> Message:
        return _Received(self, call, tensor, peer, tag)

    def take_heads(self) -> None:
        """Go on with all that is being received: who waits for a send may have to take first what
        the other side sends.
        """
        for message in list(self.without_head):
            message.take_head()

    def allocate(self, nbytes: int, deadline: Deadline) -> Tensor | None:
        return self._windows.allocate(nbytes, deadline) if self._windows is not None else None

    def finish(self, call: Call) -> None:
        self._arrivals.finish(call)

    def give_up(self, error: BaseException) -> None:
        self._arrivals.give_up(error)

    def close(self) -> None:
        if self._windows is not None:
            self._windows.close()
        self._arrivals.close()


class _Sent(Message):
    def __init__(
        self, engine: MpiEngine, call: Call, requests: list[Any], keep: Any, peer: int | None
    ) -> None:
        self._engine, self._call, self._requests, self._keep = engine, call, requests, keep
        self._peer = peer

    def ready(self) -> bool:
        if self._requests and all([request.Test() for request in self._requests]):  # noqa: C419 - every one must be pushed on
            self._requests = []
        return not self._requests

    def wait(self, deadline: Deadline) -> None:
        arrivals = self._engine._arrivals

        def look() -> None:
            arrivals.look_at(self._call, self._peer)

        def ready() -> bool:
            self._engine.take_heads()
            return self.ready()

        if not wait_until(ready, deadline, look, True):
            raise arrivals.late_message(self._call, self._peer, deadline)


class _Received(_Sent):
    """First the head, which says what comes, then the values."""

    def __init__(
        self, engine: MpiEngine, call: Call, tensor: Tensor, peer: int | None, tag: int
    ) -> None:
        MPI = engine._mpi
        self._head = bytearray(len(_head(tensor)))
        self._tensor, self._tag, self._status = tensor, tag, MPI.Status()
        source = MPI.ANY_SOURCE if peer is None else peer
        first = engine._comm.Irecv([self._head, MPI.BYTE], source, 2 * tag)
        super().__init__(engine, call, [first], tensor, peer)
        self._head_lock = threading.Lock()
        self._error: DistMismatchError | None = None
        engine.without_head.append(self)

    def ready(self) -> bool:
        if not self.take_head():
            return False
        if self._error is not None:
            raise self._error
        return super().ready()

    def take_head(self) -> bool:
        """Once the head is there, ask for the values: their sender may wait for that."""
        with self._head_lock:
            if self in self._engine.without_head and self._requests[0].Test(self._status):
                self._engine.without_head.remove(self)
                self._begin_values()
            return self not in self._engine.without_head

    def _begin_values(self) -> None:
        engine = self._engine
        self.source = self._status.Get_source()
        sent, wanted = _read_head(bytes(self._head)), _read_head(_head(self._tensor))
        into = self._tensor
        if sent != wanted:
            # taken off the line, so that the group stays usable
            into = taeda.empty(sent[1], dtype=taeda.uint8)
        self._requests = [engine._comm.Irecv(engine._raw(into), self.source, 2 * self._tag + 1)]
        if sent != wanted:
            self._requests[0].Wait()
            self._requests = []
            source = engine._arrivals.ranks[self.source]
            self._error = DistMismatchError(
                f"{self._call}: rank {source} sent {sent[2]} values of {sent[0]}, "
                f"but {wanted[2]} of {wanted[0]} were to be received",
                [source],
            )


def _head(tensor: Tensor) -> bytes:
    nbytes = tensor.numel() * tensor.element_size()
    return f"{tensor.dtype} {nbytes} {tensor.numel()}".encode().ljust(80)


def _read_head(head: bytes) -> tuple[str, int, int]:
    dtype, nbytes, numel = head.decode().split()
    return dtype, int(nbytes), int(numel)


def _joined(parts: Sequence[Tensor]) -> tuple[Tensor, list[Tensor], list[int]]:
    """Memory for all parts one after the other, its pieces, and their bytes.
    Parts that lie so already are used as they are.
    """
    counts = [part.numel() * part.element_size() for part in parts]
    at = parts[0].data_ptr()
    whole = True
    for part, count in zip(parts, counts, strict=True):
        whole = whole and part.data_ptr() == at
        at += count
    if whole and _same_storage(parts):
        first = parts[0]
        flat = first.as_strided(
            (sum(part.numel() for part in parts),), (1,), first.storage_offset()
        )
        return flat, list(parts), counts
    flat = taeda.empty(sum(part.numel() for part in parts), dtype=parts[0].dtype)
    return flat, list(flat.split([part.numel() for part in parts])), counts


def _same_storage(parts: Sequence[Tensor]) -> bool:
    first = parts[0].untyped_storage().data_ptr()
    return all(part.untyped_storage().data_ptr() == first for part in parts)


def _spread(pieces: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
    for piece, output in zip(pieces, outputs, strict=True):
        if piece.data_ptr() != output.data_ptr():
            output.copy_(piece.view(output.shape))


def _collect(pieces: Sequence[Tensor], inputs: Sequence[Tensor]) -> None:
    for piece, source in zip(pieces, inputs, strict=True):
        if piece.data_ptr() != source.data_ptr():
            piece.copy_(source.reshape(-1))


def _types(MPI: Any) -> dict[taeda.dtype, Any]:
    """The dtypes that MPI reduces itself. Of the others, narrow ones are reduced in float32."""
    return {
        taeda.float32: MPI.FLOAT,
        taeda.float64: MPI.DOUBLE,
        taeda.complex64: MPI.C_FLOAT_COMPLEX,
        taeda.complex128: MPI.C_DOUBLE_COMPLEX,
        taeda.bool: MPI.C_BOOL,
        taeda.uint8: MPI.UINT8_T,
        taeda.int8: MPI.INT8_T,
        taeda.int16: MPI.INT16_T,
        taeda.int32: MPI.INT32_T,
        taeda.int64: MPI.INT64_T,
        taeda.uint16: MPI.UINT16_T,
        taeda.uint32: MPI.UINT32_T,
        taeda.uint64: MPI.UINT64_T,
    }


def _ops(MPI: Any) -> dict[tuple[bool, RedOpType], Any]:
    """MPI's operation by (is it bool?, kind). A sum of bools is whether any is true."""
    kinds = RedOpType
    numbers = {
        kinds.SUM: MPI.SUM, kinds.PRODUCT: MPI.PROD, kinds.MIN: MPI.MIN, kinds.MAX: MPI.MAX,
        kinds.BAND: MPI.BAND, kinds.BOR: MPI.BOR, kinds.BXOR: MPI.BXOR,
    }  # fmt: skip
    bools = {
        kinds.SUM: MPI.LOR, kinds.PRODUCT: MPI.LAND, kinds.MIN: MPI.LAND, kinds.MAX: MPI.LOR,
        kinds.BAND: MPI.LAND, kinds.BOR: MPI.LOR, kinds.BXOR: MPI.LXOR,
    }  # fmt: skip
    return {
        **{(False, kind): op for kind, op in numbers.items()},
        **{(True, kind): op for kind, op in bools.items()},
    }
