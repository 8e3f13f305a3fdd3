"""Start MPI in this process, once: by the launcher's own wiring where there is one, else by a helper of rank 0."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from ._errors import DistBackendError, DistNetworkError
from ._facts import Facts, meet, node_name
from ._stores import PrefixStore, Store

__all__ = ["is_available", "job", "require", "start"]

_EXTRA = "pip install mpi4py mpich"
_LAUNCHED = ("PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
job = ""  # names the processes that MPI introduced to each other together with this one
_helper: subprocess.Popen[bytes] | None = None
_pid = 0


def is_available() -> bool:
    """Is mpi4py installed?"""
    return importlib.util.find_spec("mpi4py") is not None


def require(backend: str) -> None:
    """DistBackendError, which says what to install, without the engine."""
    if not is_available():
        raise DistBackendError(f"backend {backend!r} runs on MPI, which is not installed: {_EXTRA}")


def start(store: Store, rank: int, size: int, timeout: timedelta) -> Any:
    """The module mpi4py.MPI, with MPI running. Returns on every rank when all ranks have started it."""
    global job, _pid
    if job:
        _check_fork()
        return _module()
    require("mpi")
    by_launcher = any(name in os.environ for name in _LAUNCHED)
    found = _launcher_rank() if by_launcher else ""
    store = PrefixStore("mpi", store)
    sock = None if by_launcher else _introduce(store, rank, size, timeout)
    MPI = _module()
    if sock is not None:
        sock.detach()  # MPI's own from here on
        for name in ("PMI_FD", "PMI_RANK", "PMI_SIZE"):
            os.environ.pop(name, None)
        job = store.get("job").decode()
        _forget_file(MPI)
    else:
        job = found or "launched"
    _pid = os.getpid()
    return MPI


def world_rank() -> int:
    """This process's number among those that MPI introduced."""
    return int(_module().COMM_WORLD.Get_rank())


def _check_fork() -> None:
    if _pid != os.getpid():
        raise DistBackendError(
            "this process was forked from one that runs MPI; MPI does not survive that. Start processes by spawn"
        )


def _module() -> Any:
    import mpi4py

    mpi4py.rc.thread_level = "multiple"
    mpi4py.rc.finalize = (
        False  # it would wait for ranks that may be dead; nothing is left behind without it
    )
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise DistBackendError(
            f"MPI does not start: {error}. Its library comes with: {_EXTRA}"
        ) from error
    return MPI


def _launcher_rank() -> str:
    return os.environ.get("PMI_JOBID", os.environ.get("SLURM_JOB_ID", "launched"))


def _introduce(store: Store, rank: int, size: int, timeout: timedelta) -> socket.socket:
    """Connect to the helper of rank 0, and leave the connection where MPICH looks for it."""
    everybody = meet(store, rank, list(range(size)), Facts(os.getpid(), node_name()), timeout)
    if rank == 0:
        _start_helper(store, [facts.node for facts in everybody])
    store.wait(["address"], timeout)
    host, port, secret = json.loads(store.get("address"))
    try:
        sock = socket.create_connection((host, port), timeout.total_seconds())
    except OSError as error:
        raise DistNetworkError(
            f"rank {rank} cannot reach rank 0's helper at {host}:{port}: {error}"
        ) from None
    sock.settimeout(None)
    sock.sendall(f"{secret} {rank}\n".encode())
    sock.set_inheritable(False)
    os.environ.update(PMI_FD=str(sock.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(size))
    os.environ.setdefault("MPIR_CVAR_ENABLE_GPU", "0")
    return sock


def _start_helper(store: Store, nodes: list[str]) -> None:
    global _helper
    secret, name = secrets.token_hex(16), f"taeda_{secrets.token_hex(8)}"
    host = _own_address(store) if len(set(nodes)) > 1 else "127.0.0.1"
    task = {
        "host": host,
        "size": len(nodes),
        "secret": secret,
        "mapping": _mapping(nodes),
        "job": name,
    }
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("_pmi.py"))]
    _helper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert _helper.stdin is not None and _helper.stdout is not None
    _helper.stdin.write(json.dumps(task).encode() + b"\n")
    _helper.stdin.flush()  # it stays open: its end tells the helper that this process has ended
    line = _helper.stdout.readline()
    _helper.stdout.close()
    if not line:
        raise DistBackendError(
            f"the helper that introduces MPI's processes did not start on {host}"
        )
    store.set("job", name)
    store.set("address", json.dumps([host, int(line), secret]))


def _own_address(store: Store) -> str:
    """The address by which other machines reach this one: that of the store, which is served here or by our agent."""
    while isinstance(store, PrefixStore):
        store = store.underlying_store
    host = getattr(store, "host", "") or os.environ.get("MASTER_ADDR", "")
    return socket.gethostbyname(host) if host else socket.gethostbyname(socket.gethostname())


def _mapping(nodes: list[str]) -> str:
    """MPICH's text for which rank runs where: runs of ranks as (node, 1, how many)."""
    numbers = {node: number for number, node in enumerate(dict.fromkeys(nodes))}
    runs: list[list[int]] = []
    for node in nodes:
        if runs and runs[-1][0] == numbers[node]:
            runs[-1][1] += 1
        else:
            runs.append([numbers[node], 1])
    return "(vector," + ",".join(f"({node},1,{count})" for node, count in runs) + ")"


def _forget_file(MPI: Any) -> None:
    """Unlink MPICH's shared memory once all ranks of this machine have mapped it, so that nothing can be left over."""
    MPI.COMM_WORLD.Barrier()
    with open("/proc/self/maps") as file:
        paths = {line.split(None, 5)[5].strip() for line in file if "/mpich_shm_" in line}
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:  # another rank was quicker
            continue
