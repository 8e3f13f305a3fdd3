"""Can MPI have its shared memory? Where /dev/shm has no room, MPICH ends the process by SIGBUS when it
first writes there; where files may not grow as large as it makes them, it ends the process itself.
"""

from __future__ import annotations

import os
import resource

from .._errors import DistBackendError

__all__ = ["check_file_size", "check_room", "free_bytes"]

FOLDER = "/dev/shm"
# bytes; MPICH 5.0 took 1.01 MiB for each rank of a machine, with 2, 4 and 8
FOR_A_RANK = 1100 << 10
# bytes; the largest file that UCX makes for a rank, 4,292,720 with MPICH 5.0. That of all ranks is one file
FOR_UCX = 4200 << 10


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


def check_file_size(ranks: int) -> None:
    """DistBackendError if MPI cannot make its files for the `ranks` of this machine: the limit holds for
    files in memory as well.
    """
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    needed = max(FOR_UCX, ranks * FOR_A_RANK)
    if limit != resource.RLIM_INFINITY and ranks > 1 and limit < needed:
        raise DistBackendError(
            f"init_process_group: this process may write files of {limit / 2**20:.1f} MiB (RLIMIT_FSIZE, "
            f"ulimit -f), and MPI makes one of {needed / 2**20:.1f} MiB in shared memory for the {ranks} "
            "ranks of this machine. Set `ulimit -f unlimited`, or LimitFSIZE= of the service that starts them"
        )
