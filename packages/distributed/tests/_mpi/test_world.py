"""MPI in this process: what is refused before it starts."""

from __future__ import annotations

import pytest

import taeda.distributed as dist
from taeda.distributed._mpi import world as mpi_world


@pytest.mark.parametrize(
    ("version", "refused"), [("Open MPI v5.0.11, package", True), ("MPICH Version: 5.0.2", False)]
)
def test_open_mpi_is_started_by_its_own_launcher_only(version, refused):
    """Alone its MPI_Init ends the process."""
    module = type("MPI", (), {"Get_library_version": staticmethod(lambda: version)})
    if not refused:
        mpi_world._refuse_open_mpi(module, 3)
        return
    with pytest.raises(dist.DistBackendError, match="mpiexec -n 3"):
        mpi_world._refuse_open_mpi(module, 3)
