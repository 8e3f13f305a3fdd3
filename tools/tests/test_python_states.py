"""Random programs with state of Python: right ones pass, of a wrong one the smallest is shown."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from taeda.compiler._watch.guards import Guards

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import python_states
import random_python


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_right_programs_pass(capsys):
    assert python_states.random_main(12, 0) == 0
    assert "0 differ" in capsys.readouterr().out


def test_a_guard_that_is_missing_is_found_and_made_small(capsys, monkeypatch):
    monkeypatch.setattr(Guards, "compiled", lambda self: (lambda: True, lambda: ""))
    assert python_states.random_main(12, 13) == 1
    assert "seed" in capsys.readouterr().out


def test_what_is_not_needed_to_fail_is_left_out():
    program = random_python.made(3)
    needed = program.body[1:2]
    small = random_python.smallest(program, lambda less: needed[0] in less.body)
    assert (small.body, small.changes) == (needed, ())


def test_a_seed_is_a_program():
    assert random_python.made(5) == random_python.made(5) != random_python.made(6)
