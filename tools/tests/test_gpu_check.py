"""gpu_check.sh runs its steps in order, tells what failed in few words, and stops by its limit."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "gpu_check.sh"


def checked(
    folder: Path, failing: str = "nothing", **settings: str
) -> subprocess.CompletedProcess[str]:
    """The script with a python that prints what it is asked for, and fails on what matches."""
    path = folder / "python"
    path.write_text(
        f'#!/bin/sh\necho "$@"\ncase "$*" in {failing}) echo "FAIL: words"; exit 3;; esac\n'
    )
    path.chmod(0o755)
    env = {**os.environ, "PYTHON": str(path), "DRY": "1", **settings}
    return subprocess.run(
        [str(SCRIPT), str(folder / "out")], env=env, capture_output=True, text=True, check=False
    )


def lines(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """How each step went, by its name."""
    pairs = (line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line[:20])
    return {name.split()[-1]: words for name, words in pairs}


def test_a_line_for_each_step_and_the_logs(tmp_path):
    done = checked(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    told = lines(done)
    for name in ("taeda", "contact", "demos", "gpt", "speed", "together", "host"):
        assert told[name].startswith("ok"), done.stdout
    assert (tmp_path / "out" / "summary.txt").read_text() == done.stdout
    with tarfile.open(tmp_path / "out" / "logs.tar.gz") as logs:
        assert "./5-speed.txt" in logs.getnames()
    assert len(done.stdout) < 6000


def test_a_step_that_fails_is_told_and_the_others_run(tmp_path):
    done = checked(tmp_path, "*cuda_demo*")
    assert done.returncode == 1
    told = lines(done)
    assert told["demos"].startswith("FAILED, status 3")
    assert "    FAIL: words" in done.stdout
    assert told["together"].startswith("ok")


def test_without_a_first_contact_each_line_is_tried_alone_and_the_rest_left_out(tmp_path):
    done = checked(tmp_path, "*contact.py*")
    told = lines(done)
    assert done.returncode == 1
    assert told["contact"].startswith("FAILED")
    assert told["lines"].startswith("FAILED")
    assert "speed" not in told


def test_chosen_steps_only(tmp_path):
    told = lines(checked(tmp_path, STEPS="0,6"))
    assert "together" in told
    assert "contact" not in told


def test_no_step_begins_without_time(tmp_path):
    done = checked(tmp_path, LIMIT="5")
    assert done.returncode == 0
    assert lines(done)["speed"] == "skipped, for want of time"
