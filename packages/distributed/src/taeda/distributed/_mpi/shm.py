"""Is there room in /dev/shm for MPI? Where there is none, MPICH ends the process by SIGBUS when it
first writes there.
"""

from __future__ import annotations

import os

from .._errors import DistBackendError

__all__ = ["check_room", "free_bytes"]

FOLDER = "/dev/shm"
# bytes; MPICH 5.0 took 1.01 MiB for each rank of a machine, with 2, 4 and 8
FOR_A_RANK = 1100 << 10


def free_bytes() -> int | None:
    """What is free there; None if this system has no such folder. Ask before the first rank starts MPI."""
    try:
        found = os.statvfs(FOLDER)
    except FileNotFoundError:
        return None
    return found.f_bavail * found.f_frsize


def check_room(free: int | None, ranks: int) -> None:
    """DistBackendError if MPI cannot have its memory for the `ranks` of this machine."""
    needed = ranks * FOR_A_RANK
    if free is not None and ranks > 1 and free < needed:
        raise DistBackendError(
            f"init_process_group: {FOLDER} has {free / 2**20:.1f} MiB free, and MPI needs "
            f"{needed / 2**20:.1f} MiB "
            f"of shared memory for the {ranks} ranks of this machine. Remove files there or make "
            "it larger; of a "
            "container with --shm-size"
        )
