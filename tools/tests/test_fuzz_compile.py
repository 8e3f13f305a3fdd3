"""The fuzzer of compile passes programs that are right, and finds a graph that is not."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from taeda.compiler._watch.guards import Guards

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import fuzz_compile


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_right_programs_pass(capsys):
    assert fuzz_compile.main(12, 0) == 0
    assert "0 differ" in capsys.readouterr().out


def test_a_guard_that_is_missing_is_found(capsys, monkeypatch):
    monkeypatch.setattr(Guards, "compiled", lambda self: (lambda: True, lambda: ""))
    assert fuzz_compile.main(25, 0) == 1
    assert "seed" in capsys.readouterr().out
