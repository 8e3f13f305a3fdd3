"""What mpiexec and srun tell: which variables count, the first machine of a step, its port."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

import pytest

import taeda.distributed as dist
from taeda.distributed._mpi import launched


@pytest.fixture
def variables(monkeypatch):
    """A way to set just these variables of launchers."""
    names = {name for one in launched.LAUNCHERS for name in one[1:4]}
    for name in [*names, *(n for n in os.environ if n.startswith("SLURM_"))]:
        monkeypatch.delenv(name, raising=False)

    def use(**values: object) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))

    return use


def test_no_launcher(variables):
    assert launched.launcher() is None
    assert launched.local_rank() is None
    with pytest.raises(RuntimeError, match="taedarun"):
        dist.get_node_local_rank()
    assert dist.get_node_local_rank(7) == 7


@pytest.mark.parametrize("one", launched.LAUNCHERS, ids=lambda one: one.name)
def test_each_launcher_is_known_by_its_variables(variables, one):
    variables(**{one.rank: 3, one.size: 8, one.local_rank: 1})
    assert launched.launcher() == one
    assert dist.get_node_local_rank() == 1


def test_a_rank_without_a_size_is_no_launcher(variables):
    variables(PMI_RANK=1)
    assert launched.launcher() is None


def test_mpiexec_inside_of_a_slurm_job_goes_before_slurm(variables):
    variables(SLURM_PROCID=0, SLURM_NTASKS=1, PMI_RANK=2, PMI_SIZE=4)
    assert launched.launcher().name == "MPICH"


@pytest.mark.parametrize(
    ("hosts", "first"),
    [
        ("node7", "node7"), ("a,b", "a"), ("gpu[003-007,012],login", "gpu003"), ("n[5]", "n5"),
        ("rack[1-2]n[05-08]", "rack1n05"), ("a-b[2,5]", "a-b2"), ("10.0.0.[4-5]", "10.0.0.4"),
    ],
)  # fmt: skip
def test_first_host(hosts, first):
    assert launched.first_host(hosts) == first


def test_the_address_of_a_step(variables):
    with pytest.raises(ValueError, match="SLURM_STEP_NODELIST"):
        launched.slurm_address()
    variables(SLURM_JOB_NODELIST="x[1-2]", SLURM_JOB_ID="77", SLURM_STEP_ID="0")
    first = launched.slurm_address()
    assert first[0] == "x1"
    assert 20000 <= first[1] < 32000
    variables(SLURM_STEP_ID="1", SLURM_STEP_NODELIST="x2")
    assert launched.slurm_address()[0] == "x2"
    assert launched.slurm_address()[1] != first[1]


def test_processes_of_a_slurm_step_meet(mpi):
    code = (
        "import taeda, taeda.distributed as dist\n"
        "dist.init_process_group('gloo')\n"
        "x = taeda.full((2,), float(dist.get_rank() + 1)); dist.all_reduce(x)\n"
        "assert x.tolist() == [3, 3], x; print(dist.get_node_local_rank())\n"
    )
    base = {k: v for k, v in os.environ.items() if not k.startswith(("MASTER_", "RANK", "WORLD_"))}
    step = {"SLURM_NTASKS": "2", "SLURM_STEP_NODELIST": "localhost", "SLURM_STEP_ID": "3"}
    with contextlib.ExitStack() as stack:
        processes = []
        for rank in range(2):
            own = {
                "SLURM_PROCID": str(rank),
                "SLURM_LOCALID": str(rank),
                "SLURM_JOB_ID": str(os.getpid()),
            }
            process = subprocess.Popen(
                [sys.executable, "-c", code],
                env={**base, **step, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            processes.append(stack.enter_context(process))
            stack.callback(process.kill)
        for rank, process in enumerate(processes):
            out, err = process.communicate(timeout=60)
            assert (process.returncode, out.strip()) == (0, str(rank)), err
