"""The example: killed on two processes, it goes on on one and on three with the same losses."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import by_path
import pytest
from rank_threads import on_threads

EXAMPLE = Path(__file__).parents[4] / "examples" / "fsdp_gpt" / "train.py"
SMALL = ("--steps", "6", "--every", "2", "--width", "16", "--layers", "1")


def run(processes: int, folder: Path, *more: str) -> tuple[dict[int, float], int]:
    """The losses by step that the example prints, and its exit status."""
    launcher = [sys.executable, "-m", "taeda.distributed.run", "--nproc-per-node", str(processes)]
    command = [*launcher, str(EXAMPLE), "--folder", str(folder), *SMALL, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.findall(r"step (\d+)  loss ([\d.]+)", done.stdout)
    return {int(step): float(loss) for step, loss in found}, done.returncode


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the example is not beside these tests")
@pytest.mark.slow
def test_killed_on_two_processes_and_resumed_on_one_and_on_three(mpi, tmp_path):
    example = by_path.load("examples/fsdp_gpt/train.py")

    def undisturbed(rank):
        training = example.Training(width=16, layers=1)
        return dict(enumerate((training.learn() for _ in range(6)), 1))

    (whole,) = on_threads(1, undisturbed)
    killed, status = run(2, tmp_path / "killed", "--kill-at", "5")
    assert sorted(killed) == [1, 2, 3, 4, 5] and status != 0
    shutil.copytree(tmp_path / "killed", tmp_path / "again")
    resumed = [run(1, tmp_path / "killed"), run(3, tmp_path / "again")]
    for losses, status in resumed:
        assert sorted(losses) == [5, 6] and status == 0
    for losses in (killed, *(losses for losses, _ in resumed)):
        assert all(abs(loss - whole[step]) < 2e-5 for step, loss in losses.items())
