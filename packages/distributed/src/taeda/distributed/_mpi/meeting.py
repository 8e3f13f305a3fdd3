"""The meeting of processes that mpiexec started: MPI comes first, and carries the address of the store."""

from __future__ import annotations

import json
import os
import secrets
import socket
from datetime import timedelta
from typing import Any

from .._errors import DistBackendError, DistTimeoutError
from .._meeting.facts import node_name
from .._settings import env
from .._stores import Store, TCPStore
from .._waiting import Deadline, wait_until
from . import world as mpi_world

__all__ = ["meet_over_mpi"]

_NAME, _ADDRESS = 256, 512  # bytes of the two messages


def meet_over_mpi(rank: int, size: int, timeout: timedelta) -> Store:
    """A store served by rank 0, on a free port, with a secret that only these processes know.

    DistBackendError if MPI sees other processes than the launcher told of, DistTimeoutError if one
    does not come.
    """
    deadline = Deadline(timeout.total_seconds())
    MPI = mpi_world.start_by_launcher(timeout)
    comm = MPI.COMM_WORLD
    if (comm.Get_rank(), comm.Get_size()) != (rank, size):
        raise DistBackendError(
            f"the launcher told this process that it is rank {rank} of {size}, and MPI that it is "
            f"rank {comm.Get_rank()} of "
            f"{comm.Get_size()}: start it with the mpiexec of the MPI that mpi4py uses, or with taedarun"
        )
    one_machine = len(set(_gather(MPI, node_name().encode(), deadline))) == 1
    store, told = None, b""
    if rank == 0:
        _make_secret()
        host = "127.0.0.1" if one_machine else _own_address()
        store = TCPStore(host, 0, size, True, timeout, wait_for_workers=False)
        told = json.dumps([host, store.port, env("STORE_SECRET")]).encode()
    host, port, secret = json.loads(_tell(MPI, told, deadline))
    if store is None:
        os.environ["TAEDA_STORE_SECRET"] = secret
        store = TCPStore(host, port, size, False, timeout, wait_for_workers=False)
    return store


def _gather(MPI: Any, mine: bytes, deadline: Deadline) -> list[bytes]:
    everyone = bytearray(_NAME * MPI.COMM_WORLD.Get_size())
    sent = [mine[:_NAME].ljust(_NAME), MPI.BYTE]
    _finish(MPI.COMM_WORLD.Iallgather(sent, [everyone, MPI.BYTE]), deadline)
    return [bytes(everyone[at : at + _NAME]) for at in range(0, len(everyone), _NAME)]


def _tell(MPI: Any, text: bytes, deadline: Deadline) -> bytes:
    """The text of rank 0, on every rank."""
    message = bytearray(text.ljust(_ADDRESS))
    _finish(MPI.COMM_WORLD.Ibcast([message, MPI.BYTE], 0), deadline)
    return bytes(message)


def _finish(request: Any, deadline: Deadline) -> None:
    if not wait_until(request.Test, deadline, lambda: None):
        raise DistTimeoutError(
            "init_process_group: the processes that mpiexec started did not meet within "
            f"{deadline.seconds:g} s"
        )


def _make_secret() -> None:
    if not env("STORE_SECRET"):
        os.environ["TAEDA_STORE_SECRET"] = secrets.token_hex(16)


def _own_address() -> str:
    """The address that other machines are likely to reach: the one from which this machine would
    send to the network.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; the address is one for examples
            return str(probe.getsockname()[0])
        except OSError:  # no way to other networks: by the host's own name
            return socket.gethostbyname(socket.gethostname())
