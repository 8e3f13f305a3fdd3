"""The end of a process that mpiexec started: its launcher is told, or it would take the end for a
failure and end the others.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

__all__ = ["tell_launcher_at_exit"]


def tell_launcher_at_exit(MPI: Any) -> None:
    """At the end of this process, unless an exception ends it: mpiexec then ends the other
    processes, as it should.
    """
    atexit.register(_tell, MPI, os.getpid())


def _tell(MPI: Any, pid: int) -> None:
    if pid != os.getpid() or getattr(sys, "last_value", None) is not None or MPI.Is_finalized():
        return
    if "PMI_FD" in os.environ:
        _tell_by_pmi(int(os.environ["PMI_FD"]))
    else:
        MPI.Finalize()


def _tell_by_pmi(descriptor: int) -> None:
    """What MPI_Finalize says to MPICH's mpiexec, without its wait for the other processes, which
    may train on.
    """
    try:
        os.write(descriptor, b"cmd=finalize\n")
        os.read(descriptor, 64)  # the answer; mpiexec has noted it
    except OSError:  # mpiexec itself has ended, so nobody is left to be told
        return
