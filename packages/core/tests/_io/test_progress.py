"""Progress: silent, on the terminal, or to a function."""

from __future__ import annotations

import pytest

from taeda._io.progress import progress


def test_silence(capsys):
    progress(False, "saving", 10)(10)
    assert capsys.readouterr() == ("", "")


def test_a_function_hears_of_all():
    seen = []
    advance = progress(lambda done, total: seen.append((done, total)), "saving", 10)
    for count in (4, 0, 6, 3):
        advance(count)
    assert seen == [(4, 10), (4, 10), (10, 10), (10, 10)]


def test_the_line_ends_when_all_is_done(capsys):
    advance = progress(True, "saving model", 3_000_000)
    advance(1_000_000)
    advance(2_000_000)
    shown = capsys.readouterr().err
    assert "saving model  33 % of 3 MB" in shown
    assert shown.endswith("\n")
    assert "100 %" in shown


def test_nothing_to_do_is_all_done(capsys):
    progress(True, "saving", 0)(0)
    assert "100 % of 0 B" in capsys.readouterr().err


def test_other_wishes_are_refused():
    with pytest.raises(TypeError, match="progress is a bool or a function"):
        progress("yes", "saving", 1)
