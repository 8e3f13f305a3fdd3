"""What launchers other than `taedarun` tell their processes: mpiexec of MPICH and of Open MPI, and
Slurm's srun.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

__all__ = ["LAUNCHERS", "Launcher", "first_host", "launcher", "local_rank", "slurm_address"]


class Launcher(NamedTuple):
    """The environment variables of one launcher."""

    name: str
    rank: str
    size: str
    local_rank: str
    by_mpi: bool  # does it introduce its processes to each other's MPI?


#: MPI's before Slurm's: inside of a Slurm job, mpiexec hands the variables of the batch script on
LAUNCHERS = (
    Launcher("taedarun", "RANK", "WORLD_SIZE", "LOCAL_RANK", False),
    Launcher("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", True),
    Launcher("MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", True),
    Launcher("Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", False),
)  # fmt: skip


def launcher() -> Launcher | None:
    """The launcher that told this process its rank and how many there are, or None."""
    return next(
        (one for one in LAUNCHERS if one.rank in os.environ and one.size in os.environ), None
    )


def local_rank() -> str | None:
    """This process's number on its machine, as its launcher wrote it, or None."""
    names = [one.local_rank for one in LAUNCHERS]
    return next((os.environ[name] for name in names if name in os.environ), None)


def slurm_address() -> tuple[str, int]:
    """Address and port for the processes of a Slurm step: its first machine, a port by the numbers
    of job and step.

    ValueError if the step's variables are not there.
    """
    hosts = os.environ.get("SLURM_STEP_NODELIST") or os.environ.get("SLURM_JOB_NODELIST")
    job = os.environ.get("SLURM_JOB_ID")
    if not hosts or not job:
        raise ValueError(
            "env:// needs MASTER_ADDR and MASTER_PORT, or the list of machines and the job's number, "
            "which srun sets (SLURM_STEP_NODELIST, SLURM_JOB_ID)"
        )
    step = os.environ.get("SLURM_STEP_ID", "0")
    # two steps of a job at once do not collide
    spread = int(_digits(job)) + 97 * int(_digits(step))
    return first_host(hosts), 20000 + spread % 12000  # below the ports that systems lend themselves


def _digits(text: str) -> str:
    found = re.match(r"\d+", text)
    return found.group() if found else "0"


def first_host(hosts: str) -> str:
    """The first name of a list as Slurm writes it.

    >>> first_host("gpu[003-007,012],login"), first_host("a,b"), first_host("rack[1-2]n[05-08]")
    ('gpu003', 'a', 'rack1n05')
    """
    first = re.split(r",(?![^\[]*\])", hosts)[0]  # at commas outside of brackets
    return re.sub(r"\[([^\],-]*)[^\]]*\]", r"\1", first)
