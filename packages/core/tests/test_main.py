"""`python -m taeda` tells what is here, and ends quietly."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from taeda import __main__ as command
from taeda._doctor import core, facts


def test_facts_and_self_test_in_a_process_of_their_own():
    done = subprocess.run(
        [sys.executable, "-m", "taeda"], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for title, rows in facts.sections():
        assert f"\n{title}\n" in f"\n{done.stdout}"
        assert all(label in done.stdout for label, _ in rows)
    assert "FAILED" not in done.stdout and "everything works" in done.stdout


def test_facts_alone_test_nothing(monkeypatch, capsys):
    monkeypatch.setattr(core, "CHECKS", {"bad": lambda: 1 / 0})
    assert command.main(["--facts"]) == 0
    assert "self-test" not in capsys.readouterr().out


@pytest.mark.parametrize("module", ["taeda", "taeda.utils.collect_env"])
def test_who_stops_reading_gets_no_traceback(module):
    """As `python -m taeda | head -1` does."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", module, *(["--facts"] if module == "taeda" else [])]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")
