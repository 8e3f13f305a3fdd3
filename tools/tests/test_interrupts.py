"""Interrupts at random instants: nothing is left, and what would be left is told."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from taeda._core_api import programs as _core

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import interrupts


@pytest.fixture(autouse=True)
def own_handler():
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.signal(signal.SIGALRM, before)


def test_some_interrupts_leave_nothing_behind(capsys):
    assert interrupts.main(40, 0) == 0
    assert "40 interrupts" in capsys.readouterr().out


def test_what_is_left_is_told():
    class Tracer:
        pass

    assert interrupts.left() == ""
    _core.tracers.push(Tracer())
    try:
        assert "a layer" in interrupts.left()
    finally:
        _core.tracers.pop()
