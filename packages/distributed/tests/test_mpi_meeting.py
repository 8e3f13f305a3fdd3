"""Processes of mpiexec, which have no MASTER_ADDR: MPI brings them together."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def mpiexec(mpi):
    """The launcher that came with the engine."""
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("mpi4py is installed without a launcher of its own: pip install mpich")
    return found


def start(launcher, code, folder, **env):
    path = folder / "program.py"
    path.write_text(f"import taeda, os\nimport taeda.distributed as dist\n{code}")
    left_out = (
        "MASTER_ADDR",
        "MASTER_PORT",
        "RANK",
        "WORLD_SIZE",
        "LOCAL_RANK",
        "TAEDA_STORE_SECRET",
    )
    base = {name: value for name, value in os.environ.items() if name not in left_out}
    return subprocess.run(
        [*launcher, sys.executable, str(path)],
        env={**base, **env}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_they_meet_and_compute(mpiexec, tmp_path):
    done = start([mpiexec, "-n", "3"], """
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
""", tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "local 0", "local 1", "local 2"]


def test_an_exception_of_one_ends_all(mpiexec, tmp_path):
    done = start([mpiexec, "-n", "2"], """
dist.init_process_group("gloo")
if dist.get_rank() == 1:
    raise ValueError("out of luck")
dist.barrier()
""", tmp_path)  # fmt: skip
    assert done.returncode != 0
    assert "out of luck" in done.stderr


def test_the_launcher_of_another_mpi_is_named(mpi, tmp_path):
    told = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    done = start([], "dist.init_process_group('gloo')", tmp_path, **told)
    assert done.returncode != 0
    assert "rank 1 of 2" in done.stderr
    assert "rank 0 of 1" in done.stderr
    assert "taedarun" in done.stderr
