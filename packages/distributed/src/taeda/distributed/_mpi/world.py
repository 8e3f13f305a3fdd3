"""Start MPI in this process, once: by the launcher's own wiring where there is one, else by a
helper of rank 0.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from .._errors import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistPeerDiedError,
    DistTimeoutError,
)
from .._meeting.facts import Facts, meet, node_name
from .._meeting.peers import Peers, state_of
from .._stores import PrefixStore, Store
from .._waiting import Deadline, wait_until
from .end import tell_launcher_at_exit
from .shm import check_file_size, check_room, free_bytes

__all__ = ["is_available", "job", "require", "start", "start_by_launcher"]

_EXTRA = "pip install mpi4py mpich"
_LAUNCHED = ("PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
job = ""  # names the processes that MPI introduced to each other together with this one
_helper: subprocess.Popen[bytes] | None = None
_pid = 0
_ASK_EVERY = 0.25  # seconds between questions whether a rank gave up
_failed = ""  # why MPI could not be started


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
    store = PrefixStore("mpi", store)
    everybody: list[Facts] = []
    if not by_launcher:
        _refuse_open_mpi(_module(), size)
        free = free_bytes()  # before the meeting: after it the first may already have taken some
        everybody = meet(store, rank, list(range(size)), Facts(os.getpid(), node_name()), timeout)
        try:
            here = sum(facts.node == everybody[rank].node for facts in everybody)
            check_room(free, here)
            check_file_size(here)
        except DistBackendError:
            if rank == 0:  # it serves the store, as a rule: the others must have met before it ends
                time.sleep(2 * _ASK_EVERY)
            raise
        _introduce(store, rank, everybody, timeout)
    store.set(f"starts/{rank}", b"")
    MPI = _module()
    try:
        _initialize(MPI, _Others(store, rank, size, everybody), timeout)
    finally:
        if not by_launcher:
            for name in ("PMI_FD", "PMI_RANK", "PMI_SIZE"):
                os.environ.pop(name, None)
    if by_launcher:
        job = _launcher_rank()
        tell_launcher_at_exit(MPI)
    else:
        job = store.get("job").decode()
    _pid = os.getpid()
    return MPI


def _refuse_open_mpi(MPI: Any, size: int) -> None:
    """DistBackendError: only its own launcher introduces the processes of Open MPI; alone, MPI_Init
    ends them.
    """
    if "Open MPI" in MPI.Get_library_version():
        raise DistBackendError(
            "mpi4py runs on Open MPI here, whose processes are started by its own launcher: "
            f"mpiexec -n {size} python program.py. taedarun and spawn need MPICH: pip install mpich"
        )


def start_by_launcher(timeout: timedelta) -> Any:
    """The same for processes that mpiexec started, before they have a store: its own wiring brings
    them together.
    """
    global job, _pid
    if job:
        _check_fork()
        return _module()
    require("mpi")
    MPI = _module()
    _initialize(MPI, _Unseen(), timeout)
    job, _pid = _launcher_rank(), os.getpid()
    tell_launcher_at_exit(MPI)
    return MPI


def world_rank() -> int:
    """This process's number among those that MPI introduced."""
    return int(_module().COMM_WORLD.Get_rank())


def _check_fork() -> None:
    if _pid != os.getpid():
        raise DistBackendError(
            "this process was forked from one that runs MPI; MPI does not survive that. Start "
            "processes by spawn"
        )


def _module() -> Any:
    import mpi4py

    mpi4py.rc.initialize = False  # `_initialize` does it, with a deadline
    # it would wait for ranks that may be dead; nothing is left behind without it
    mpi4py.rc.finalize = False
    try:
        from mpi4py import MPI
    except MemoryError:
        raise
    except (ImportError, RuntimeError) as error:
        raise DistBackendError(
            f"MPI does not start: {error}. Its library comes with: {_EXTRA}"
        ) from error
    return MPI


class _Unseen:
    """The other ranks while there is no store that tells of them; mpiexec ends all processes if one
    of them ends.
    """

    def look(self) -> None:
        """Nothing can be seen."""

    def give_up(self, error: DistBackendError) -> None:
        """Nobody can be told."""

    def late(self, deadline: Deadline) -> DistTimeoutError:
        """The error after the deadline."""
        return DistTimeoutError(
            f"init_process_group: MPI did not start within {deadline.seconds:g} s: of the "
            "processes that mpiexec "
            "started, one did not come"
        )

    def close(self) -> None:
        """Nothing is held."""


class _Others(_Unseen):
    """The ranks that this one waits for while MPI starts."""

    def __init__(self, store: Store, rank: int, size: int, everybody: list[Facts]) -> None:
        self._store, self._rank = store, rank
        self._ranks = [r for r in range(size) if r != rank]
        self._next_question = 0.0
        self._pids = {r: f.pid for r, f in enumerate(everybody)}
        here = everybody[rank].node if everybody else ""
        near = [r for r in self._ranks if everybody and everybody[r].node == here]
        self._peers = Peers({r: self._pids[r] for r in near})

    def look(self) -> None:
        """The error of a rank that gave up; DistPeerDiedError if one of this machine has ended."""
        gone = self._peers.gone()
        if gone or time.monotonic() >= self._next_question:
            self._next_question = time.monotonic() + _ASK_EVERY
            self._hear()
        if gone:
            told = ", ".join(f"rank {r}" for r in gone)
            raise DistPeerDiedError(
                f"init_process_group: while MPI started, the process of {told} ended", gone
            )

    def _hear(self) -> None:
        """Raise what the first rank that gave up met: it knows better than those who miss it why
        nothing goes on.
        """
        try:
            if not self._store.check(["gave-up"]):
                return
            kind, text, ranks = json.loads(self._store.get("gave-up"))
        except DistError:  # the store ended with its rank, whose end is seen by itself
            return
        if self._rank in ranks:
            return
        known = {one.__name__: one for one in (DistPeerDiedError, DistTimeoutError)}
        raise known[kind](text, ranks) if kind in known else DistBackendError(text)

    def give_up(self, error: DistBackendError) -> None:
        """Tell the others. Rank 0 serves the store, as a rule, so it stays until they have asked."""
        told = [type(error).__name__, str(error), getattr(error, "ranks", [])]
        with contextlib.suppress(DistError):  # the store ended with a rank that gave up before
            self._store.compare_set("gave-up", "", json.dumps(told))
            if self._rank == 0:
                time.sleep(2 * _ASK_EVERY)

    def late(self, deadline: Deadline) -> DistTimeoutError:
        """The error after the deadline."""
        try:
            absent = [r for r in self._ranks if not self._store.check([f"starts/{r}"])]
        except DistError:  # the store ended with a rank that gave up before
            absent = []
        told = (
            ", ".join(f"rank {r} ({self._state(r)})" for r in absent)
            or "every rank began, but one did not go on"
        )
        return DistTimeoutError(
            f"init_process_group: MPI did not start within {deadline.seconds:g} s: {told}", absent
        )

    def _state(self, rank: int) -> str:
        pid = self._pids.get(rank)
        return "did not come" if pid is None else f"process {pid}, {state_of(pid)}, did not come"

    def close(self) -> None:
        self._peers.close()


def _initialize(MPI: Any, others: _Unseen, timeout: timedelta) -> None:
    """MPI_Init_thread on a thread of its own, without the interpreter's lock: it waits for all
    ranks and knows no deadline.

    After a failure the thread stands in the library for good, so MPI cannot be started in this
    process any more.
    """
    global _failed
    if _failed:
        raise DistBackendError(f"MPI could not be started in this process before: {_failed}")
    if MPI.Is_initialized():  # by the program itself
        return
    begin = ctypes.CDLL(MPI.__file__).MPI_Init_thread  # found among what the module is linked to
    granted, codes = ctypes.c_int(), []
    wanted = ctypes.c_int(MPI.THREAD_MULTIPLE)

    def run() -> None:
        code = begin(None, None, wanted, ctypes.byref(granted))
        if code == 0:
            MPI.COMM_WORLD.Barrier()  # every rank has opened the shared memory
        codes.append(code)

    threading.Thread(target=run, name="taeda-mpi-start", daemon=True).start()
    deadline = Deadline(timeout.total_seconds())
    try:
        if not wait_until(lambda: bool(codes), deadline, others.look, patient=True):
            raise others.late(deadline)
        if codes[0] or granted.value < MPI.THREAD_MULTIPLE:
            raise DistBackendError(
                f"MPI_Init_thread answered {codes[0]} and thread level {granted.value}"
            )
    except DistBackendError as error:
        _failed = str(error)
        others.give_up(error)
        raise
    finally:
        others.close()
        _forget_file()


def _launcher_rank() -> str:
    return os.environ.get("PMI_JOBID", os.environ.get("SLURM_JOB_ID", "launched"))


def _introduce(store: Store, rank: int, everybody: list[Facts], timeout: timedelta) -> None:
    """Connect to the helper of rank 0, and leave the connection where MPICH looks for it.
    It is never closed by us.
    """
    size = len(everybody)
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
    os.environ.update(PMI_FD=str(sock.detach()), PMI_RANK=str(rank), PMI_SIZE=str(size))
    os.environ.setdefault("MPIR_CVAR_ENABLE_GPU", "0")


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
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("pmi.py"))]
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
    """The address by which other machines reach this one: that of the store, which is served here
    or by our agent.
    """
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


def _forget_file() -> None:
    """Unlink MPICH's shared memory once all ranks of this machine have mapped it, so that nothing
    can be left over.
    """
    with open("/proc/self/maps") as file:
        paths = {line.split(None, 5)[5].strip() for line in file if "/mpich_shm_" in line}
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:  # another rank was quicker
            continue
