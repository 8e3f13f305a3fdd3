"""Warnings point at the program."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import taeda
from taeda._warnings import warn

PACKAGES = Path(__file__).resolve().parents[2]


def ours(depth):
    """A function of taeda, by name, that calls itself `depth` times before it warns."""
    space = {"__name__": "taeda.somewhere", "warn": warn}
    exec("def f(n):\n    return f(n - 1) if n else warn('careful')", space)
    return space["f"](depth)


@pytest.mark.parametrize("depth", [0, 1, 7])
def test_it_points_at_the_line_outside_of_taeda(depth):
    with pytest.warns(UserWarning, match="careful") as seen:
        ours(depth)
    assert seen[0].filename == __file__
    assert "return space" in Path(__file__).read_text().splitlines()[seen[0].lineno - 1]


def test_a_line_is_told_once():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            taeda.tensor(taeda.ones(1))
        taeda.tensor(taeda.ones(1))
    assert len(seen) == 2 and {w.filename for w in seen} == {__file__}


def test_every_warning_takes_this_way():
    """No other module asks `warnings` to warn: a level counted by hand is wrong as soon as a
    function is put between.
    """
    own = re.compile(r"\bwarnings\.warn\(")
    found = [
        str(path.relative_to(PACKAGES))
        for path in sorted(PACKAGES.glob("*/src/**/*.py"))
        if own.search(path.read_text())
        and not path.match("_watch/callers.py")  # a program's own calls
        if path.name != "_warnings.py"
    ]
    assert found == []
