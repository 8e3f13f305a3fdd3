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


def test_rows_of_other_projects_stay_and_a_row_that_changed_is_told(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{sdists.BEGIN}\n| a |\n|---|\n{sdists.END}\nafter\n")
    monkeypatch.setattr(sdists, "PAGE", page)
    first, last = next(iter(sdists.PROJECTS)), list(sdists.PROJECTS)[-1]
    ones = [sdists.Outcome(name, 0, True, "3 of 3 pass") for name in (last, first)]
    assert sdists.stale(ones) == [one.row() for one in ones]
    for one in ones:
        sdists.write([one])
    assert sdists.stale(ones) == [] and list(sdists.on_page(page.read_text())) == [first, last]
    assert sdists.stale([sdists.Outcome(first, 0, True, "2 of 3 pass")]) != []
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith(f"{sdists.END}\nafter\n")
