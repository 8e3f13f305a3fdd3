"""Children that die, hang or find something: each is told, and no case is lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "hunt"
sys.path.insert(0, str(TOOLS))
from fuzz_children import Range, supervise  # noqa: E402 - found through the line above

SCRIPT = """
import os, signal, sys, time
sys.path.insert(0, {tools!r})
from fuzz_children import run_as_child


def cases(given, note):
    for number in range(given.first, given.first + given.count):
        note(number, f"{{given.pattern}} {{given.seed}} " + "x" * 9000)
        if number == {dies}:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == {hangs}:
            time.sleep(600)
        yield ("odd", f"found {{number}}") if number % 2 else ("even", None)


if {early}:
    sys.exit("not today")
assert run_as_child(cases)
"""


def run(tmp_path, dies=-1, hangs=-1, early=False, limit=100.0):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(tools=str(TOOLS), dies=dies, hangs=hangs, early=early))
    return supervise(str(script), Range(7, 10, 6, "name"), tmp_path, limit)


def test_all_that_was_found_is_told(tmp_path):
    made = run(tmp_path)
    assert made.counts == {"even": 3, "odd": 3}
    assert made.found == ["found 11", "found 13", "found 15"]
    assert not made.deaths


def test_a_death_is_told_and_the_rest_is_run(tmp_path):
    made = run(tmp_path, dies=12)
    [death] = made.deaths
    assert death.number == 12
    assert death.text.startswith("name 7 xxx")
    assert "status -9" in death.ending
    assert made.counts == {"death": 1, "before a death": 2, "even": 1, "odd": 2}


def test_a_death_in_the_last_case(tmp_path):
    made = run(tmp_path, dies=15)
    assert made.counts == {"death": 1, "before a death": 5}
    assert not made.found


def test_a_child_that_hangs_is_ended(tmp_path):
    made = run(tmp_path, hangs=10, limit=3.0)
    [death] = made.deaths
    assert (death.number, death.ending) == (10, "did not end within 3 s")
    assert made.counts["odd"] == 3


def test_a_child_that_does_not_begin_ends_the_run(tmp_path):
    with pytest.raises(SystemExit, match=r"not today\nbefore its first case"):
        run(tmp_path, early=True)
