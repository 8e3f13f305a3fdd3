"""A check that fails is shown, and is the exit status."""

from __future__ import annotations

import re

from taeda import __main__ as command
from taeda._doctor import core, selftest


def test_a_check_that_fails_is_shown_and_is_the_exit_status(monkeypatch, capsys):
    def broken() -> str:
        raise ValueError("out of order")

    monkeypatch.setattr(selftest, "modules", lambda: iter([core]))
    monkeypatch.setattr(core, "CHECKS", {"good": lambda: "fine", "bad": broken})
    assert command.main(["--test"]) == 1
    shown = capsys.readouterr().out
    assert re.search(r"good +\d+ ms +ok +fine", shown) and "ValueError: out of order" in shown
