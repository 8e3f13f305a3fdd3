"""How the session of public sdists counts, and what it hides from a build."""

from __future__ import annotations

import os
import sys

import pytest
from by_path import load

sdists = load("tools/try/sdists.py")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("== 38 passed, 2 skipped in 1.20s ==", "38 of 38 pass, 2 skipped"),
        ("1 failed, 4 passed in 2s", "4 of 5 pass"),
        ("2 errors in 0.1s", "0 of 2 pass"),
        ("no tests ran in 0.01s", "0 of 0 pass"),
    ],
)
def test_the_last_line_is_what_counts(line, words):
    assert sdists.told(f"7 passed\n{line}") == words


def test_a_build_does_not_see_the_compiler_of_cuda(tmp_path, monkeypatch):
    with_it, without = tmp_path / "a", tmp_path / "b"
    for folder in (with_it, without):
        folder.mkdir()
    (with_it / "nvcc").touch()
    monkeypatch.setenv("PATH", f"{with_it}{os.pathsep}{without}")
    assert sdists.without_nvcc() == str(without)


def test_a_command_that_does_not_end_is_ended(tmp_path):
    command = (sys.executable, "-c", "import time; time.sleep(60)")
    assert sdists.run(command, tmp_path, 0.5) == (124, "ended after 0 s")
