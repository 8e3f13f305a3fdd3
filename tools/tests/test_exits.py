"""The search for programs that do not end well: it finds a wrong code, a hang and a process that stays."""

from __future__ import annotations

import by_path

exits = by_path.load("tools/hunt/exits.py")


def faults(monkeypatch, text, code=0, seconds=30):
    monkeypatch.setitem(exits.PROGRAMS, "a program", (text, code))
    monkeypatch.setattr(exits, "SECONDS", seconds)
    return " ".join(exits.faults_of("a program", 0.0))


def test_a_program_that_ends_well(monkeypatch):
    assert faults(monkeypatch, "taeda.ones(3).sum()") == ""


def test_those_that_do_not(monkeypatch):
    assert "ended with -6" in faults(monkeypatch, "os.abort()")
    assert "ended with 2, not 0" in faults(monkeypatch, "os._exit(2)")
    assert "has not ended after 3 s" in faults(monkeypatch, "time.sleep(60)", seconds=3)
