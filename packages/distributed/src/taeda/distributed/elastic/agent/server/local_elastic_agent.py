"""The agent that runs processes on the machine it runs on itself."""

from __future__ import annotations

import os
import secrets
import string
from typing import Any

from ...multiprocessing import LogsSpecs, PContext, start_processes
from .api import RunResult, SimpleElasticAgent, WorkerGroup, WorkerSpec, WorkerState

__all__ = ["LocalElasticAgent"]


class LocalElasticAgent(SimpleElasticAgent):
    """Starts the processes, tells them their ranks by environment variables, and restarts all when
    one fails.

    >>> from taeda.distributed.elastic import rendezvous
    >>> from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs
    >>> params = rendezvous.RendezvousParameters("static", "127.0.0.1:0", "job-7", 1, 1, rank=0)
    >>> handler = rendezvous.get_rendezvous_handler(params)
    >>> spec = WorkerSpec("trainer", 1, handler, entrypoint="/bin/true")
    >>> result = LocalElasticAgent(spec, DefaultLogsSpecs()).run()
    >>> result.is_failed()
    False
    >>> handler.shutdown()
    True
    """

    def __init__(
        self,
        spec: WorkerSpec,
        logs_specs: LogsSpecs,
        start_method: str = "spawn",
        exit_barrier_timeout: float = 300,
        log_line_prefix_template: str | None = None,
    ) -> None:
        super().__init__(spec, exit_barrier_timeout)
        self._logs_specs, self._start_method = logs_specs, start_method
        self._prefix_template = log_line_prefix_template
        self._pcontext: PContext | None = None

    def _start_workers(self, worker_group: WorkerGroup) -> dict[int, Any]:
        spec = worker_group.spec
        args, envs, prefixes = {}, {}, {}
        for worker in worker_group.workers:
            envs[worker.local_rank] = self._environment(worker_group, worker)
            args[worker.local_rank] = tuple(_replaced(spec.args, worker.local_rank))
            prefixes[worker.local_rank] = self._prefix(spec, worker)
        assert spec.entrypoint is not None
        self._pcontext = start_processes(
            spec.role, spec.entrypoint, args, envs, self._logs_specs, prefixes, self._start_method
        )
        return self._pcontext.pids()

    def _prefix(self, spec: WorkerSpec, worker: Any) -> str:
        if self._prefix_template is None:
            return f"[{spec.role}{worker.local_rank}]:"
        words = {
            "role_name": spec.role,
            "local_rank": worker.local_rank,
            "rank": worker.global_rank,
        }
        return string.Template(self._prefix_template).safe_substitute(words)

    def _environment(self, group: WorkerGroup, worker: Any) -> dict[str, str]:
        spec = group.spec
        count = str(spec.max_restarts - self._remaining_restarts)
        facts = {
            "LOCAL_RANK": worker.local_rank,
            "RANK": worker.global_rank,
            "GROUP_RANK": group.group_rank,
            "ROLE_RANK": worker.role_rank,
            "ROLE_NAME": spec.role,
            "LOCAL_WORLD_SIZE": spec.local_world_size,
            "WORLD_SIZE": worker.world_size,
            "GROUP_WORLD_SIZE": group.group_world_size,
            "ROLE_WORLD_SIZE": worker.role_world_size,
            "MASTER_ADDR": group.master_addr,
            "MASTER_PORT": group.master_port,
            "TORCHELASTIC_RESTART_COUNT": count,
            "TORCHELASTIC_MAX_RESTARTS": spec.max_restarts,
            "TORCHELASTIC_RUN_ID": spec.rdzv_handler.get_run_id(),
            "TAEDA_ELASTIC_ROUND": getattr(spec.rdzv_handler, "round", 0),
            "TORCHELASTIC_USE_AGENT_STORE": spec.rdzv_handler.use_agent_store,
        }
        return {name: str(value) for name, value in facts.items()}

    def _stop_workers(self, worker_group: WorkerGroup) -> None:
        if self._pcontext is not None:
            self._pcontext.close()
            self._pcontext = None

    def _shutdown(self, death_sig: Any = None) -> None:
        if self._pcontext is not None:
            self._pcontext.close(death_sig)
            self._pcontext = None

    def _monitor_workers(self, worker_group: WorkerGroup) -> RunResult:
        assert self._pcontext is not None
        result = self._pcontext.wait(0)
        if result is None:
            return RunResult(WorkerState.HEALTHY)
        ranks = {worker.local_rank: worker.global_rank for worker in worker_group.workers}
        if result.is_failed():
            failures = {ranks[local]: failure for local, failure in result.failures.items()}
            return RunResult(WorkerState.FAILED, {}, failures)
        values = {ranks[local]: value for local, value in result.return_values.items()}
        return RunResult(WorkerState.SUCCEEDED, values)


def _replaced(args: tuple[Any, ...], local_rank: int) -> list[Any]:
    """`${local_rank}` in arguments becomes the number."""
    words = {"local_rank": str(local_rank)}
    return [
        string.Template(arg).safe_substitute(words) if isinstance(arg, str) and "$" in arg else arg
        for arg in args
    ]


def make_secret() -> None:
    """A secret for the stores of this job, unless the one who started it gave one."""
    if "TAEDA_STORE_SECRET" not in os.environ:
        os.environ["TAEDA_STORE_SECRET"] = secrets.token_hex(16)
