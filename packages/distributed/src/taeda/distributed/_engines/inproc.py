"""An engine for threads of one process: tests of programs for many ranks without a launcher.
Not a way to be faster.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor

from .._calls import Call
from .._errors import DistBackendError, DistMismatchError, DistTimeoutError
from .._stores import PrefixStore, Store
from .._types import RedOpType, ReduceOp
from .._waiting import Deadline
from .base import Engine, Message

__all__ = ["InprocEngine"]

_KERNELS: dict[RedOpType, Callable[..., Tensor]] = {
    RedOpType.SUM: taeda.add, RedOpType.AVG: taeda.add, RedOpType.PREMUL_SUM: taeda.add,
    RedOpType.PRODUCT: taeda.mul, RedOpType.MIN: taeda.minimum, RedOpType.MAX: taeda.maximum,
    RedOpType.BAND: taeda.bitwise_and, RedOpType.BOR: taeda.bitwise_or, RedOpType.BXOR: taeda.bitwise_xor,
}  # fmt: skip


class _Room:
    """Where the threads of a group meet."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        # (seq, round) -> what each rank gave
        self.given: dict[tuple[int, int], dict[int, Any]] = {}
        self.mail: dict[tuple[int, int, int], list[Tensor]] = {}  # (from, to, tag)
        self.failed: dict[int, str] = {}


_rooms_lock = threading.Lock()


def _room(store: Store, name: str) -> _Room:
    """The room of a group, kept with the store that its threads share."""
    while isinstance(store, PrefixStore):
        store = store.underlying_store
    with _rooms_lock:
        return store.__dict__.setdefault("_rooms", {}).setdefault(name, _Room())


class InprocEngine(Engine):
    """One group among threads that share a HashStore."""

    def __init__(self, store: Store, number: int, ranks: Sequence[int], name: str) -> None:
        super().__init__(number, len(ranks))
        self.ranks, self._room, self._store = list(ranks), _room(store, name), store
        self._seq, self._round = 0, 0

    def _exchange(self, mine: Any, deadline: Deadline) -> list[Any]:
        """What every rank gives in this round of the collective."""
        room, self._round = self._room, self._round + 1
        key = (self._seq, self._round)
        with room.changed:
            given = room.given.setdefault(key, {})
            given[self.rank] = mine
            room.changed.notify_all()
            while len(given) < self.size:
                self._check_failed()
                if deadline.passed():
                    raise self._late(given, deadline)
                room.changed.wait(min(deadline.left(), 0.1))
            room.given.pop((self._seq - 2, self._round), None)
        return [given[rank] for rank in range(self.size)]

    def _check_failed(self) -> None:
        for rank, word in self._room.failed.items():
            raise DistBackendError(f"{self.call}: rank {self.ranks[rank]} gave up: {word}")

    def _late(self, given: dict[int, Any], deadline: Deadline) -> DistTimeoutError:
        missing = [self.ranks[rank] for rank in range(self.size) if rank not in given]
        who = ", ".join(f"rank {rank}" for rank in missing)
        return DistTimeoutError(
            f"collective {self._seq}, {self.call}: timed out after {deadline.seconds:g} s; {who} "
            "did not come",
            missing,
        )

    def arrive(self, call: Call, deadline: Deadline) -> None:
        self.call, self._seq, self._round = call, call.seq, 0
        calls = self._exchange(call, deadline)
        if len({other.signature for other in calls}) > 1:
            told = "\n".join(f"  rank {self.ranks[r]}: {other}" for r, other in enumerate(calls))
            odd = [
                self.ranks[r]
                for r, other in enumerate(calls)
                if other.signature != calls[0].signature
            ]
            raise DistMismatchError(
                f"collective {call.seq} of the group is not the same on all ranks:\n{told}", odd
            )
        judge: Any = call.wants
        if judge is not None and (verdict := judge([other.detail for other in calls])):
            odd, problem = [self.ranks[rank] for rank in verdict[:2]], verdict[2]
            told = f"rank {odd[0]} {problem.format(f'rank {odd[1]}')}"
            raise DistMismatchError(f"collective {call.seq}, {call}: {told}", odd)

    def reach(self, call: Call, deadline: Deadline) -> list[int]:
        self.call, self._seq, self._round = call, call.seq, 0
        try:
            self._exchange(call, deadline)
        except DistTimeoutError as error:
            return [self.ranks.index(rank) for rank in error.ranks]
        return []

    def _sum(self, tensors: Sequence[Tensor], op: ReduceOp) -> Tensor:
        first = tensors[0]
        narrow = first.dtype in (taeda.float16, taeda.bfloat16)
        total = first.float() if narrow else first.clone()
        for other in tensors[1:]:
            total = _KERNELS[op.op](total, other.float() if narrow else other)
        return total.to(first.dtype)

    def all_reduce(self, tensor: Tensor, op: ReduceOp, deadline: Deadline) -> None:
        tensor.copy_(self._sum(self._exchange(tensor.clone(), deadline), op))

    def reduce(self, tensor: Tensor, root: int, op: ReduceOp, deadline: Deadline) -> None:
        values = self._exchange(tensor.clone(), deadline)
        if self.rank == root:
            tensor.copy_(self._sum(values, op))

    def broadcast(self, tensor: Tensor, root: int, deadline: Deadline) -> None:
        values = self._exchange(tensor.clone() if self.rank == root else None, deadline)
        if self.rank != root:
            tensor.copy_(values[root].view(tensor.shape))

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor, deadline: Deadline) -> None:
        for output, value in zip(outputs, self._exchange(tensor.clone(), deadline), strict=True):
            output.copy_(value.view(output.shape))

    def gather(
        self, outputs: Sequence[Tensor], tensor: Tensor, root: int, deadline: Deadline
    ) -> None:
        values = self._exchange(tensor.clone(), deadline)
        if self.rank == root:
            for output, value in zip(outputs, values, strict=True):
                output.copy_(value.view(output.shape))

    def scatter(
        self, tensor: Tensor, inputs: Sequence[Tensor], root: int, deadline: Deadline
    ) -> None:
        mine = [value.clone() for value in inputs] if self.rank == root else None
        tensor.copy_(self._exchange(mine, deadline)[root][self.rank].view(tensor.shape))

    def reduce_scatter(
        self, output: Tensor, flat: Tensor, op: ReduceOp, deadline: Deadline
    ) -> None:
        values = self._exchange(flat.view(self.size, -1).clone(), deadline)
        output.copy_(self._sum([value[self.rank] for value in values], op).view(output.shape))

    def all_to_all(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], deadline: Deadline
    ) -> None:
        values = self._exchange([value.clone() for value in inputs], deadline)
        for output, value in zip(outputs, values, strict=True):
            output.copy_(value[self.rank].view(output.shape))

    def send(self, tensor: Tensor, peer: int, tag: int, call: Call) -> Message:
        room = self._room
        with room.changed:
            room.mail.setdefault((self.rank, peer, tag), []).append(tensor.clone())
            room.changed.notify_all()
        return _Mail(self, call, tensor, (), tag, done=True)

    def receive(self, tensor: Tensor, peer: int | None, tag: int, call: Call) -> Message:
        sources = range(self.size) if peer is None else (peer,)
        return _Mail(self, call, tensor, tuple(sources), tag)

    def give_up(self, error: BaseException) -> None:
        with self._room.changed:
            self._room.failed[self.rank] = f"{type(error).__name__}: {error}"
            self._room.changed.notify_all()


class _Mail(Message):
    """A message in the room."""

    def __init__(
        self,
        engine: InprocEngine,
        call: Call,
        tensor: Tensor,
        sources: tuple[int, ...],
        tag: int,
        done: bool = False,
    ) -> None:
        self._engine, self._call, self._tensor = engine, call, tensor
        self._sources, self._tag, self._done = sources, tag, done

    def ready(self) -> bool:
        room, me = self._engine._room, self._engine.rank
        with room.changed:
            for source in () if self._done else self._sources:
                if queue := room.mail.get((source, me, self._tag)):
                    self._take(queue.pop(0), source)
                    break
        return self._done

    def _take(self, value: Tensor, source: int) -> None:
        self.source, self._done = source, True
        if value.numel() != self._tensor.numel() or value.dtype != self._tensor.dtype:
            rank = self._engine.ranks[source]
            raise DistMismatchError(
                f"{self._call}: rank {rank} sent {value.numel()} values of {value.dtype}, "
                f"but {self._tensor.numel()} of {self._tensor.dtype} were to be received",
                [rank],
            )
        self._tensor.copy_(value.view(self._tensor.shape))

    def wait(self, deadline: Deadline) -> None:
        room = self._engine._room
        while not self.ready():
            if deadline.passed():
                ranks = [self._engine.ranks[source] for source in self._sources]
                raise DistTimeoutError(
                    f"{self._call} from {ranks} was not complete after {deadline.seconds:g} s",
                    ranks,
                )
            with room.changed:
                room.changed.wait(min(deadline.left(), 0.01))
