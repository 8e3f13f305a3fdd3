"""Processes of mpiexec, which have no MASTER_ADDR: MPI brings them together."""

from __future__ import annotations

import pytest
from mpi_launcher import find_mpiexec, start


@pytest.fixture(scope="module")
def mpiexec(mpi):
    """The launcher that came with the engine."""
    return find_mpiexec()


def test_they_meet_and_compute(mpiexec, tmp_path):
    done = start(
        [mpiexec, "-n", "3"],
        """
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
x = taeda.full((40000,), float(rank + 1))
dist.all_reduce(x)
assert size == 3 and set(x.tolist()) == {6.0}
half = dist.new_group([0, 2])
if rank != 1:
    found = [None, None]
    dist.all_gather_object(found, rank, group=half)
    assert found == [0, 2]
assert len(os.environ["TAEDA_STORE_SECRET"]) == 32
print("local", dist.get_node_local_rank(), flush=True)
dist.destroy_process_group()
dist.init_process_group("mpi")  # again, with MPI running
dist.barrier()
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "local 0", "local 1", "local 2"]


def test_the_launcher_of_another_mpi_is_named(mpi, tmp_path):
    told = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    done = start([], "dist.init_process_group('gloo')", tmp_path, **told)
    assert done.returncode != 0
    assert "rank 1 of 2" in done.stderr
    assert "rank 0 of 1" in done.stderr
    assert "taedarun" in done.stderr
