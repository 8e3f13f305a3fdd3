"""The life of a group of processes: meet, start, watch, restart, end.
A kind of agent says how it starts and stops them.
"""

from __future__ import annotations

import json
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Any

from ...._errors import DistError
from ...multiprocessing import ProcessFailure, SignalException
from ...rendezvous import RendezvousGracefulExitError, RendezvousHandler

__all__ = [
    "DEFAULT_ROLE",
    "ElasticAgent",
    "RunResult",
    "SimpleElasticAgent",
    "Worker",
    "WorkerGroup",
    "WorkerSpec",
    "WorkerState",
]

DEFAULT_ROLE = "default"
_log = logging.getLogger(__name__)


@dataclass
class WorkerSpec:
    """What to run on this machine: a program or function, how often, and what to do when one of
    them fails.

    >>> from taeda.distributed.elastic import rendezvous
    >>> params = rendezvous.RendezvousParameters("static", "127.0.0.1:0", "job-7", 1, 1, rank=0)
    >>> handler = rendezvous.get_rendezvous_handler(params)
    >>> spec = WorkerSpec("trainer", 2, handler, entrypoint="train.py", max_restarts=1)
    >>> spec.get_entrypoint_name(), spec.local_world_size
    ('train.py', 2)
    """

    role: str
    local_world_size: int
    rdzv_handler: RendezvousHandler
    fn: Callable[..., Any] | None = None
    entrypoint: Callable[..., Any] | str | None = None
    args: tuple[Any, ...] = ()
    max_restarts: int = 3
    monitor_interval: float = 0.1
    master_port: int | None = None
    master_addr: str | None = None
    local_addr: str | None = None
    event_log_handler: str = "null"

    def __post_init__(self) -> None:
        if self.local_world_size < 1:
            raise ValueError(f"local_world_size is at least 1, not {self.local_world_size}")
        if not self.monitor_interval > 0:
            raise ValueError(f"monitor_interval is more than 0, not {self.monitor_interval}")
        if self.fn is not None:
            self.entrypoint = self.fn
        if self.entrypoint is None:
            raise ValueError("a WorkerSpec needs an entrypoint")

    def get_entrypoint_name(self) -> str:
        """The program's path, or the function's name."""
        return self.entrypoint if isinstance(self.entrypoint, str) else self.entrypoint.__qualname__  # type: ignore[union-attr]  # not None, see above


class Worker:
    """One process: its numbers on the machine, in the job and in its role.

    >>> Worker(local_rank=1, global_rank=5, world_size=8)
    Worker(local_rank=1, global_rank=5, world_size=8)
    """

    def __init__(
        self,
        local_rank: int,
        global_rank: int = -1,
        role_rank: int = -1,
        world_size: int = -1,
        role_world_size: int = -1,
    ) -> None:
        self.id: Any = None
        self.local_rank, self.global_rank, self.role_rank = local_rank, global_rank, role_rank
        self.world_size, self.role_world_size = world_size, role_world_size

    def __repr__(self) -> str:
        return (
            f"Worker(local_rank={self.local_rank}, global_rank={self.global_rank}, "
            f"world_size={self.world_size})"
        )


class WorkerState(str, Enum):  # noqa: UP042 - as the interface has it
    """Where a group of processes stands.

    >>> WorkerState.is_running(WorkerState.HEALTHY), WorkerState.is_running(WorkerState.FAILED)
    (True, False)
    """

    UNKNOWN = "UNKNOWN"
    INIT = "INIT"
    HEALTHY = "HEALTHY"
    UNHEALTHY = "UNHEALTHY"
    STOPPED = "STOPPED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @staticmethod
    def is_running(state: WorkerState) -> bool:
        """Do processes run in this state?"""
        return state in (WorkerState.HEALTHY, WorkerState.UNHEALTHY)


class WorkerGroup:
    """The processes on this machine.

    >>> from taeda.distributed.elastic import rendezvous
    >>> params = rendezvous.RendezvousParameters("static", "127.0.0.1:0", "job-7", 1, 1, rank=0)
    >>> spec = WorkerSpec("trainer", 2, rendezvous.get_rendezvous_handler(params), fn=print)
    >>> group = WorkerGroup(spec)
    >>> group.state.value, [worker.local_rank for worker in group.workers]
    ('INIT', [0, 1])
    """

    def __init__(self, spec: WorkerSpec) -> None:
        self.spec = spec
        self.workers = [Worker(local_rank=number) for number in range(spec.local_world_size)]
        self.store: Any = None
        self.group_rank: int | None = None
        self.group_world_size: int | None = None
        self.master_addr: str | None = None
        self.master_port: int | None = None
        self.state = WorkerState.INIT


@dataclass
class RunResult:
    """How it ended: the state, what functions returned and what failed, by rank of the job.

    >>> result = RunResult(WorkerState.SUCCEEDED, return_values={0: "done"})
    >>> result.is_failed(), result.return_values
    (False, {0: 'done'})
    """

    state: WorkerState
    return_values: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, ProcessFailure] = field(default_factory=dict)

    def is_failed(self) -> bool:
        """Did processes fail?"""
        return self.state == WorkerState.FAILED


class ElasticAgent(ABC):
    """Runs a job's processes on one machine.

    >>> class Here(ElasticAgent):  # an agent that runs nothing
    ...     def run(self, role="default"):
    ...         return RunResult(WorkerState.SUCCEEDED)
    ...     def get_worker_group(self, role="default"):
    ...         raise NotImplementedError
    >>> Here().run().is_failed()
    False
    """

    @abstractmethod
    def run(self, role: str = DEFAULT_ROLE) -> RunResult:
        """Run them to the end, with restarts."""

    @abstractmethod
    def get_worker_group(self, role: str = DEFAULT_ROLE) -> WorkerGroup:
        """The processes."""


class SimpleElasticAgent(ElasticAgent):
    """An agent for one role. A subclass says how processes are started, watched and stopped.

    >>> from taeda.distributed.elastic.agent.server import LocalElasticAgent
    >>> issubclass(LocalElasticAgent, SimpleElasticAgent)  # which starts them on this machine
    True
    """

    def __init__(self, spec: WorkerSpec, exit_barrier_timeout: float = 300) -> None:
        self._worker_group = WorkerGroup(spec)
        self._remaining_restarts = spec.max_restarts
        self._exit_barrier_timeout = exit_barrier_timeout

    def get_worker_group(self, role: str = DEFAULT_ROLE) -> WorkerGroup:
        return self._worker_group

    @abstractmethod
    def _start_workers(self, worker_group: WorkerGroup) -> dict[int, Any]:
        """Start the processes; their ids by local rank."""

    @abstractmethod
    def _stop_workers(self, worker_group: WorkerGroup) -> None:
        """Stop them."""

    @abstractmethod
    def _monitor_workers(self, worker_group: WorkerGroup) -> RunResult:
        """How they stand."""

    @abstractmethod
    def _shutdown(self, death_sig: Any = None) -> None:
        """Stop everything, for good."""

    def _rendezvous(self, worker_group: WorkerGroup) -> None:
        """Meet the other machines, and number the processes."""
        spec = worker_group.spec
        info = spec.rdzv_handler.next_rendezvous()
        worker_group.store, worker_group.group_rank = info.store, info.rank
        worker_group.group_world_size = info.world_size
        place = info.bootstrap_store_info
        worker_group.master_addr = spec.master_addr or place.master_addr
        worker_group.master_port = spec.master_port or place.master_port
        if info.world_size > 1:
            self._restarts_seen = info.store.add("restarts", 0)
        worker_group.workers = self._assign_worker_ranks(
            info.store, info.rank, info.world_size, spec
        )

    def _assign_worker_ranks(
        self, store: Any, group_rank: int, group_world_size: int, spec: WorkerSpec
    ) -> list[Worker]:
        """Every machine tells its role and number of processes; ranks follow the machines' numbers."""
        prefix = f"agents/{spec.max_restarts - self._remaining_restarts}/{group_world_size}"
        store.set(f"{prefix}/{group_rank}", json.dumps([spec.role, spec.local_world_size]))
        keys = [f"{prefix}/{number}" for number in range(group_world_size)]
        roles = [tuple(json.loads(value)) for value in store.multi_get(keys)]
        before = sum(count for _, count in roles[:group_rank])
        role_before = sum(count for role, count in roles[:group_rank] if role == spec.role)
        total = sum(count for _, count in roles)
        in_role = sum(count for role, count in roles if role == spec.role)
        return [
            Worker(number, before + number, role_before + number, total, in_role)
            for number in range(spec.local_world_size)
        ]

    def _initialize_workers(self, worker_group: WorkerGroup) -> None:
        """Meet and start."""
        self._rendezvous(worker_group)
        for local_rank, identity in self._start_workers(worker_group).items():
            worker_group.workers[local_rank].id = identity
        worker_group.state = WorkerState.HEALTHY

    def _restart_workers(self, worker_group: WorkerGroup) -> None:
        """Stop, meet and start again."""
        self._stop_workers(worker_group)
        worker_group.state = WorkerState.STOPPED
        self._initialize_workers(worker_group)

    def run(self, role: str = DEFAULT_ROLE) -> RunResult:
        closes = True
        try:
            return self._invoke_run(role)
        except RendezvousGracefulExitError as error:
            _log.info("this machine leaves: %s", error)
            return RunResult(WorkerState.SUCCEEDED)
        except SignalException as error:
            closes = False
            self._shutdown(error.sigval)
            self._worker_group.spec.rdzv_handler.shutdown()
            raise
        finally:
            if closes:
                self._shutdown()
                self._worker_group.spec.rdzv_handler.shutdown()

    def _invoke_run(self, role: str = DEFAULT_ROLE) -> RunResult:
        group = self._worker_group
        spec = group.spec
        self._initialize_workers(group)
        while True:
            result = self._monitor_workers(group)
            group.state = result.state
            if result.state == WorkerState.SUCCEEDED:
                self._exit_barrier()
                return result
            if result.state in (WorkerState.FAILED, WorkerState.UNHEALTHY):
                if self._remaining_restarts <= 0:
                    self._stop_workers(group)
                    group.state = WorkerState.FAILED
                    return RunResult(WorkerState.FAILED, {}, result.failures)
                self._remaining_restarts -= 1
                self._tell_of_restart(result)
                self._restart_workers(group)
            elif spec.rdzv_handler.num_nodes_waiting() > 0 or self._others_restart():
                self._restart_workers(group)
            else:
                time.sleep(spec.monitor_interval)

    def _tell_of_restart(self, result: RunResult) -> None:
        for rank, failure in result.failures.items():
            _log.warning("rank %s failed: %s", rank, failure.message.strip().splitlines()[-1])
        _log.warning("restarting all processes; %s restarts are left", self._remaining_restarts)
        group = self._worker_group
        if (group.group_world_size or 1) > 1:
            group.store.add("restarts", 1)
            self._restarts_seen = int(group.store.get("restarts"))

    _restarts_seen = 0

    def _others_restart(self) -> bool:
        """Has another machine's agent begun a restart? A restart is of all machines."""
        group = self._worker_group
        if (group.group_world_size or 1) == 1:
            return False
        try:
            count = group.store.add("restarts", 0)
        except DistError as error:  # machine 0 has gone, and the store with it
            raise RuntimeError(f"the agent of machine 0 has gone: {error}") from error
        if count <= self._restarts_seen:
            return False
        self._restarts_seen, self._remaining_restarts = count, self._remaining_restarts - 1
        return True

    def _exit_barrier(self) -> None:
        """Wait for the other machines' agents, so that the one which serves the store is not the
        first to leave.
        """
        group = self._worker_group
        size, rank = group.group_world_size or 1, group.group_rank or 0
        if size == 1:
            return
        try:
            self._wait_for_word(group.store, "exit", rank, size)
        except DistError as error:
            _log.warning("not all machines ended: %s", error)
            return
        try:  # who serves the store leaves when the others have had its answer
            self._wait_for_word(group.store, "left", rank, size)
        except DistError as error:
            _log.debug("the store has gone, as everybody had ended: %s", error)

    def _wait_for_word(self, store: Any, word: str, rank: int, size: int) -> None:
        store.set(f"{word}/{rank}", "done")
        keys = [f"{word}/{number}" for number in range(size)]
        store.wait(keys, timedelta(seconds=self._exit_barrier_timeout))
