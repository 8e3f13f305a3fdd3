"""A process of mpiexec that ends well lets the others go on; one that ends by an exception takes
them with it.
"""

from __future__ import annotations

import pytest
from mpi_launcher import find_mpiexec, start


@pytest.fixture(scope="module")
def mpiexec(mpi):
    """The launcher that came with the engine."""
    return find_mpiexec()


AFTER = """
import sys, time
dist.init_process_group("gloo")
dist.barrier()
if dist.get_rank() == 0:
    time.sleep(1.5)  # as long as it takes to write a checkpoint, say
    print("rank 0 has ended its work", flush=True)
"""


@pytest.mark.parametrize("more", ["", "dist.destroy_process_group()", "sys.exit(0)"])
def test_a_rank_works_on_after_the_others_have_ended(mpiexec, tmp_path, more):
    done = start([mpiexec, "-n", "3"], AFTER + more, tmp_path)
    assert (done.returncode, done.stdout) == (0, "rank 0 has ended its work\n"), done.stderr


def test_an_exception_of_one_ends_all(mpiexec, tmp_path):
    done = start(
        [mpiexec, "-n", "2"],
        """
dist.init_process_group("gloo")
if dist.get_rank() == 1:
    raise ValueError("out of luck")
dist.barrier()
""",
        tmp_path,
    )
    assert done.returncode != 0
    assert "out of luck" in done.stderr


def test_the_status_of_a_rank_is_that_of_the_job(mpiexec, tmp_path):
    done = start(
        [mpiexec, "-n", "2"],
        """
import sys
dist.init_process_group("gloo")
dist.barrier()
sys.exit(3 if dist.get_rank() == 1 else 0)
""",
        tmp_path,
    )
    assert done.returncode == 3
