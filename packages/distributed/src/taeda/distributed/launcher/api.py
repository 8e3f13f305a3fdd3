"""Start a function or a program on several processes, and wait for what they return."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from taeda.distributed.elastic.agent.server import LocalElasticAgent, WorkerSpec
from taeda.distributed.elastic.agent.server.local_elastic_agent import make_secret
from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs, LogsSpecs
from taeda.distributed.elastic.multiprocessing.errors import ChildFailedError
from taeda.distributed.elastic.rendezvous import RendezvousParameters, get_rendezvous_handler

__all__ = ["LaunchConfig", "elastic_launch", "launch_agent"]


@dataclass
class LaunchConfig:
    """How many processes on how many machines, how they meet, and what happens when one fails.

    Args:
        min_nodes, max_nodes: machines: at least, at most.
        nproc_per_node: processes on this machine.
        logs_specs: where their output goes; to this process's own by default.
        run_id: the name of the job; one of its own if it is empty.
        role: what the processes are called in reports.
        rdzv_endpoint, rdzv_backend, rdzv_configs, rdzv_timeout: where and how machines meet, as for
            `taedarun`; seconds, or -1 for the default.
        max_restarts: how often all processes start again after one failed.
        monitor_interval: seconds between two looks at them.
        start_method: how a function's processes start: spawn, fork or forkserver.
        log_line_prefix_template: what stands before each line of output.
        local_addr: the address of this machine for the others.

    >>> config = LaunchConfig(1, 1, nproc_per_node=4, max_restarts=0, rdzv_timeout=60)
    >>> config.rdzv_backend, config.rdzv_configs
    ('static', {'timeout': 60})
    """

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: LogsSpecs | None = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "static"
    rdzv_configs: dict[str, Any] = field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str | None = None
    local_addr: str | None = None

    def __post_init__(self) -> None:
        if self.rdzv_timeout != -1:
            self.rdzv_configs["timeout"] = self.rdzv_timeout


class elastic_launch:
    """Called with arguments, starts `entrypoint` with them on each process, and returns {rank: result}.

    Args:
        config: how.
        entrypoint: a function, or the path of a program; None stands for the Python interpreter.

    ChildFailedError if a process failed and no restart was left.

    >>> config = LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=1)
    >>> elastic_launch(config, "true")()  # a program returns None, a function what it returns
    {0: None}
    """

    def __init__(self, config: LaunchConfig, entrypoint: Callable[..., Any] | str | None) -> None:
        self._config, self._entrypoint = config, entrypoint

    def __call__(self, *args: Any) -> dict[int, Any]:
        return launch_agent(self._config, self._entrypoint, list(args))


def launch_agent(
    config: LaunchConfig, entrypoint: Callable[..., Any] | str | None, args: list[Any]
) -> dict[int, Any]:
    """What `elastic_launch(config, entrypoint)(*args)` does.

    >>> launch_agent(LaunchConfig(1, 1, nproc_per_node=1), "true", [])
    {0: None}
    """
    entrypoint = sys.executable if entrypoint is None else entrypoint
    if config.max_nodes == 1:
        make_secret()
    spec = WorkerSpec(
        config.role,
        config.nproc_per_node,
        get_rendezvous_handler(_parameters(config)),
        entrypoint=entrypoint,
        args=tuple(args),
        max_restarts=config.max_restarts,
        monitor_interval=config.monitor_interval,
        local_addr=config.local_addr,
    )
    logs = config.logs_specs or DefaultLogsSpecs()
    agent = LocalElasticAgent(
        spec,
        logs,
        config.start_method,
        log_line_prefix_template=config.log_line_prefix_template,
    )
    result = agent.run()
    if result.is_failed():
        raise ChildFailedError(spec.get_entrypoint_name(), result.failures)
    return dict(result.return_values)


def _parameters(config: LaunchConfig) -> RendezvousParameters:
    words = dict(config.rdzv_configs)
    if config.rdzv_backend == "static":
        words.setdefault("rank", 0)
    endpoint = config.rdzv_endpoint or ("127.0.0.1:0" if config.max_nodes == 1 else "")
    name = config.run_id or f"taeda_{uuid.uuid4().hex[:8]}"
    return RendezvousParameters(
        config.rdzv_backend,
        endpoint,
        name,
        config.min_nodes,
        config.max_nodes,
        config.local_addr,
        **words,
    )
