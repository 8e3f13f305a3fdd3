"""gpu_check.sh runs every step, tells what failed, and writes a report of each."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "gpu_check.sh"
STEPS = ("device", "taeda", "tests", "rows", "demos", "speed")


def checked(folder: Path, failing: str) -> subprocess.CompletedProcess[str]:
    """The script with a python and an nvidia-smi that print what they are asked for."""
    for name in ("python", "nvidia-smi"):
        path = folder / name
        path.write_text(f'#!/bin/sh\necho "$@"\ncase "$*" in {failing}) exit 3;; esac\n')
        path.chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHON": str(folder / "python"),
        "PART": "1/4",
    }
    return subprocess.run(
        [str(SCRIPT), str(folder / "out")], env=env, capture_output=True, text=True, check=False
    )


def test_a_report_of_each_step(tmp_path):
    done = checked(tmp_path, "nothing")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[: len(STEPS)]] == [
        [name, "passed"] for name in STEPS
    ]
    rows = (tmp_path / "out" / "rows.txt").read_text()
    assert rows == "tools/cuda_rows.py --card --part 1/4\n"


def test_a_step_that_fails_is_told_and_the_others_run(tmp_path):
    done = checked(tmp_path, "*cuda_demo*")
    assert done.returncode == 1
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["demos"].startswith("FAILED, status 3")
    assert all(lines[name].startswith("passed") for name in STEPS if name != "demos")
