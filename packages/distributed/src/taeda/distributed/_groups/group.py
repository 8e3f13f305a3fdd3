"""A group of processes: the order of its collectives, the thread that carries asynchronous ones,
and how it breaks.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import taeda

from .._calls import Call
from .._engines.base import Engine
from .._errors import DistBackendError, DistMismatchError
from .._meeting.facts import Facts, meet, node_name
from .._stores import PrefixStore, Store
from .._types import Backend, ReduceOp
from .._waiting import Deadline
from . import recorder
from .work import StreamWork, Work

__all__ = ["ProcessGroup"]

Action = Callable[[Engine, Deadline], None]
Function = TypeVar("Function", bound=Callable[..., Work | None])

_forks = 0  # that lie between this process and the one that imported the module


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)

#: collectives that groups also offer as methods; `_collectives`, which builds on groups, enters them
_methods: dict[str, Callable[..., Work | None]] = {}


def also_method(collective: Function) -> Function:
    """Let groups call this collective."""
    _methods[collective.__name__] = collective
    return collective


class ProcessGroup:
    """Some ranks of the default group, numbered 0 to `size() - 1` among themselves.

    Collectives run in the order in which they were called. One that blocks runs on the caller's
    thread if nothing is under way, everything else on one thread of the group. Made by
    `init_process_group` and `new_group`, which choose the arguments.

    Args:
        engine: what moves the data between the processes of the group.
        ranks: the ranks of the default group that take part, in the order of their numbers here.
        backend: the name of the engine, such as "gloo".
        timeout: how long a collective waits for the others, a timedelta.
        name: the group's name, the same in all its processes and of no other group.
        description: what the group is for, in words (default: "").
        store: where its processes meet; None (the default) if nothing is kept there.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> pair = dist.new_group([0])
    >>> isinstance(pair, dist.ProcessGroup), pair.rank(), pair.size()
    (True, 0, 1)
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        engine: Engine,
        ranks: Sequence[int],
        backend: str,
        timeout: timedelta,
        name: str,
        description: str = "",
        store: Store | None = None,
    ) -> None:
        self._engine, self._ranks, self._backend = engine, list(ranks), backend
        self.timeout, self.group_name, self.group_desc = timeout, name, description
        self.store = store
        self._numbers = {rank: number for number, rank in enumerate(self._ranks)}
        self._seq, self._lock = 0, threading.Lock()
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._under_way = 0
        self._thread: threading.Thread | None = None
        self._broken: BaseException | None = None
        self._closed, self._forks = False, _forks
        self._barriers = 0  # how many monitored ones there were

    # ---- facts ----

    def rank(self) -> int:
        """This process's number in the group."""
        return self._engine.rank

    def size(self) -> int:
        """How many processes there are."""
        return self._engine.size

    def name(self) -> str:
        """The backend."""
        return self._backend

    @property
    def device(self) -> taeda.device:
        """Where the backend's tensors are: the processor, or with NCCL the current GPU."""
        if self._engine.device_type == "cpu":
            return taeda.device("cpu")
        return taeda.device("cuda", taeda.cuda.current_device())

    @property
    def device_types(self) -> tuple[str, ...]:
        """The types of device whose tensors the group carries."""
        return (self._engine.device_type,)

    def lanes(self) -> list[ProcessGroup]:
        """The groups of one backend that it is made of: itself, if there are no others."""
        return [self]

    def lane(self, device_type: str) -> ProcessGroup:
        """The group of one backend that carries tensors of the device: this one, if there is no other."""
        return self

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.group_name!r} on {self.name()}: rank {self.rank()} of {self.size()}>"

    def __reduce__(self) -> Any:
        raise TypeError("a process group cannot be pickled or copied: it belongs to its process")

    def number_of(self, rank: int, what: str) -> int:
        """The group's number of a rank of the default group. ValueError if it is no member."""
        number = self._numbers.get(rank)
        if number is None:
            raise ValueError(f"{what} {rank} is not one of the group's ranks {self._ranks}")
        return number

    # ---- running ----

    def run(
        self,
        call: Call,
        action: Action,
        *,
        async_op: bool = False,
        result: Any = None,
        timeout: timedelta | None = None,
        on: Sequence[taeda.Tensor] = (),
    ) -> Work | None:
        """Enter a collective: `action` moves the data, that of the tensors `on`, after all ranks have come.

        Work if `async_op`, else None. ValueError for tensors of a device that the backend does not carry.
        """
        self.check_devices(call.name, on)
        with self._lock:
            self._check_usable(call)
            self._seq += 1
            call.seq, call.group = self._seq, self.group_name
            recorder.record(call)
            direct = self._engine.by_stream or (not async_op and not self._under_way)
            self._under_way += 1
        limit = (timeout or self.timeout).total_seconds()
        if direct:
            try:
                if not async_op:
                    self._carry(call, action, limit)
                    return None
                with self._engine.aside(on):
                    self._carry(call, action, limit)
                    mark = self._engine.mark()
            finally:
                self._leave()
            return StreamWork(f"collective {call.seq}, {call}", result, mark)
        work = Work(f"collective {call.seq}, {call}", result)
        work._abort = self.abort
        self._give(lambda: self._carry_aside(call, action, limit, work))
        if async_op:
            return work
        work.wait()
        return None

    def check_devices(self, name: str, tensors: Sequence[taeda.Tensor]) -> None:
        """ValueError for tensors of several devices, or of one that the backend does not carry."""
        wanted = self._engine.device_type
        if wanted == "cpu" and all([t.device.type == "cpu" for t in tensors]):  # noqa: C419 - quicker
            return
        for tensor in tensors:
            if tensor.device != tensors[0].device:
                raise ValueError(
                    f"{name}: one tensor is on {tensors[0].device} and another on {tensor.device}"
                )
            if tensor.device.type != wanted:
                raise ValueError(
                    f"{name}: a tensor is on {tensor.device}, but the group's backend {str(self._backend)!r} "
                    f"carries tensors of the {wanted} only"
                )

    def _check_usable(self, call: Call) -> None:
        if self._closed:
            raise ValueError(f"{call.name}: the group {self.group_name!r} was destroyed")
        if self._forks != _forks:
            raise DistBackendError(
                f"{call.name}: this process was forked from a member of the group and is none"
            )
        if self._broken is not None:
            raise DistBackendError(
                f"{call.name} at {call.line}: the group is broken since an earlier error: {self._broken}"
            ) from self._broken

    def _leave(self) -> None:
        with self._lock:
            self._under_way -= 1

    def _carry(self, call: Call, action: Action, limit: float) -> None:
        engine, deadline = self._engine, Deadline(limit)
        call.state = "started"
        try:
            engine.arrive(call, deadline)
            action(engine, deadline)
            engine.finish(call)
            call.end("done")
        except DistMismatchError:  # nothing was moved: the group stays usable
            engine.finish(call)
            call.end("refused")
            raise
        except BaseException as error:
            call.end("failed")
            self._break(error)
            raise

    def _break(self, error: BaseException) -> None:
        if self._broken is None:
            self._broken = error
            self._engine.give_up(error)
            recorder.dump(self._ranks[self.rank()], str(error))

    def _carry_aside(self, call: Call, action: Action, limit: float, work: Work) -> None:
        """On the thread."""
        error: BaseException | None = None
        try:
            if self._broken is not None:
                raise DistBackendError(f"{call}: the group broke before: {self._broken}")
            self._engine.patient = True
            self._carry(call, action, limit)
        except BaseException as raised:  # noqa: BLE001 - the one who waits for the work gets it
            error = raised
        finally:
            self._engine.patient = False
        self._leave()
        work._finish(error)

    def _give(self, task: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run_tasks, name=f"taeda-group-{self.group_name}", daemon=True
            )
            self._thread.start()
        self._tasks.put(task)

    def _run_tasks(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            task = None  # it holds the tensors of its call, and the next one may be far away

    # ---- the end ----

    def abort(self) -> None:
        """Give up on whatever is under way; the other ranks are told, and the group cannot be used
        any more.
        """
        self._break(DistBackendError("the group was aborted"))

    def shutdown(self) -> None:
        """Stop the thread after what was begun, and release the engine."""
        if self._closed:
            return
        self._closed = True
        if self._thread is not None and self._forks == _forks:
            self._tasks.put(None)
            self._thread.join(1.0 if self._broken is not None else self.timeout.total_seconds())
        if self._broken is None:
            self._engine.close()

    # ---- the methods that scripts of this interface call on a group ----

    def allreduce(self, tensors: Any, op: ReduceOp = ReduceOp.SUM) -> Work:
        """`all_reduce` of this group, under way."""
        work = _methods["all_reduce"](_single(tensors), op, self, async_op=True)
        assert work is not None
        return work

    def broadcast(self, tensors: Any, root: int = 0) -> Work:
        """`broadcast` from the group's number `root`, under way."""
        work = _methods["broadcast"](_single(tensors), group=self, group_src=root, async_op=True)
        assert work is not None
        return work

    def barrier(self) -> Work:
        """`barrier` of this group, under way."""
        work = _methods["barrier"](self, async_op=True)
        assert work is not None
        return work


def _single(tensors: Any) -> taeda.Tensor:
    return tensors[0] if isinstance(tensors, (list, tuple)) else tensors


def make_engine(
    backend: str,
    store: Store,
    rank: int,
    ranks: Sequence[int],
    timeout: timedelta,
    name: str,
    device: str,
) -> Engine:
    """The engine of a group on this rank, for tensors of `device`. DistBackendError says what is
    not there.
    """
    from .._engines.inproc import InprocEngine
    from .._engines.local import FakeEngine
    from .._engines.nccl import NcclEngine

    number, size = list(ranks).index(rank), len(ranks)
    if backend in Backend._makers:
        func, extended, _ = Backend._makers[backend]
        return _made_by(func, extended, store, number, size, timeout, name, ranks)
    if backend == Backend.FAKE or (size == 1 and backend != Backend.INPROC):
        return FakeEngine(number, size, device)
    if backend == Backend.NCCL:
        return NcclEngine(store, rank, ranks, timeout, name)
    if backend == Backend.INPROC:
        return InprocEngine(store, number, ranks, name)
    return _of_processors(store, rank, ranks, timeout, name)


def _of_processors(
    store: Store, rank: int, ranks: Sequence[int], timeout: timedelta, name: str
) -> Engine:
    """Inside a machine MPI, between machines connections of ours, and MPI where none can be laid."""
    from .._engines.mpi import MpiEngine
    from .._engines.wires import WireEngine, between, wanted

    facts = Facts(os.getpid(), node_name(), between=between())
    way = PrefixStore("way", store)
    everybody = meet(way, rank, list(ranks), facts, timeout)
    joined = WireEngine.join(way, rank, ranks, everybody, timeout) if wanted(everybody) else None
    return joined or MpiEngine(store, rank, ranks, timeout, name)


def _made_by(
    func: Callable[..., Any],
    extended: bool,
    store: Store,
    number: int,
    size: int,
    timeout: timedelta,
    name: str,
    ranks: Sequence[int],
) -> Engine:
    if extended:
        options = _Options(store, number, size, timeout, name, list(ranks))
        made = func(options, None)
    else:
        made = func(store, number, size, timeout)
    if not isinstance(made, Engine):
        raise TypeError(
            "the function of a registered backend returns an Engine of taeda.distributed, not "
            f"{type(made).__name__}"
        )
    return made


class _Options:
    """What a registered backend with the extended interface is told."""

    def __init__(
        self,
        store: Store,
        group_rank: int,
        group_size: int,
        timeout: timedelta,
        group_id: str,
        global_ranks_in_group: list[int],
    ) -> None:
        self.store, self.group_rank, self.group_size = store, group_rank, group_size
        self.timeout, self.group_id = timeout, group_id
        self.global_ranks_in_group = global_ranks_in_group
