"""Programs on several processes, each with a hard deadline: what the tests of taeda-distributed run."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes import Node

PRELUDE = """
import os, sys, datetime
import taeda
import taeda.distributed as dist
rank, size = (
    int(os.environ.get(name) or os.environ[f"OMPI_COMM_{word}"])
    for name, word in (("RANK", "WORLD_RANK"), ("WORLD_SIZE", "WORLD_SIZE"))
)
seconds = lambda n: datetime.timedelta(seconds=n)
"""


@dataclass
class Ended:
    """How a rank ended."""

    code: int
    out: str
    err: str


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def environment(rank: int, size: int, port: int, **more: str) -> dict[str, str]:
    names = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size}
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": 1}
    return {**os.environ, **{k: str(v) for k, v in {**names, **address}.items()}, **more}


@contextlib.contextmanager
def started(
    code: str, size: int, nodes: Sequence[Node] = (), **env: str
) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that run `code` as ranks 0 to size - 1; what is left of them at the end is killed.

    With `nodes` neighbours share one, and they meet at the address of the first.
    """
    port = free_port()
    text = PRELUDE + textwrap.dedent(code)
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(text)
        try:
            for rank in range(size):
                env_of_rank = environment(rank, size, port, **env)
                pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
                command = [sys.executable, path]
                if nodes:
                    env_of_rank["MASTER_ADDR"] = nodes[0].address
                    command = nodes[rank * len(nodes) // size].command(command)
                processes += [subprocess.Popen(command, env=env_of_rank, **pipes)]
            yield processes
        finally:
            for process in processes:
                if process.poll() is None:
                    process.send_signal(signal.SIGCONT)
                    process.kill()
                process.wait()
                for stream in (process.stdout, process.stderr):
                    if stream is not None:
                        stream.close()


def run_ranks(code: str, size: int, timeout: float = 60, **env: str) -> list[Ended]:
    """Run `code` on every rank and return how each ended. AssertionError if one is late.

    With TAEDA_RANKS_BY, a command such as mpiexec, all are started by it, and it ends for all.
    """
    if command := os.environ.get("TAEDA_RANKS_BY"):
        return [_run_by(command.split(), code, size, timeout, env)] * size
    with started(code, size, **env) as processes:
        return finish(processes, timeout)


def _run_by(command: list[str], code: str, size: int, timeout: float, env: dict[str, str]) -> Ended:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(PRELUDE + textwrap.dedent(code))
        done = subprocess.run(
            [*command, "-n", str(size), sys.executable, path],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", **env},
        )
    return Ended(done.returncode, done.stdout, done.stderr)


def finish(processes: list[subprocess.Popen[str]], timeout: float) -> list[Ended]:
    until = time.monotonic() + timeout
    ended = []
    for rank, process in enumerate(processes):
        try:
            out, err = process.communicate(timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"rank {rank} still runs after {timeout} s") from None
        ended.append(Ended(process.returncode, out, err))
    return ended


def all_well(ended: list[Ended]) -> None:
    """Every rank ended with 0; else what they wrote."""
    texts = [
        f"--- rank {r} ended with {e.code}\n{e.out}{e.err}" for r, e in enumerate(ended) if e.code
    ]
    assert not texts, "\n".join(texts)
