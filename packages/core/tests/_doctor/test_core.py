"""Checks of core see what is wrong."""

from __future__ import annotations

import pytest

import taeda
from taeda._doctor import core


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("functions", lambda: ("sin", lambda x: x.cos())),
        ("random numbers", lambda: ("randn", lambda n, **_: taeda.zeros(n))),
        ("checkpoints", lambda: ("load", lambda f: {"x": taeda.zeros(1000), "row": taeda.ones(3)})),
    ],
)
def test_a_check_sees_what_is_wrong(name, wrong, monkeypatch):
    assert core.CHECKS[name]()
    monkeypatch.setattr(taeda, *wrong())
    with pytest.raises(AssertionError):
        core.CHECKS[name]()
