"""Packages whose names are found when they are asked for."""

from __future__ import annotations

import importlib

import pytest

from taeda._parts import DISTRIBUTIONS


@pytest.mark.parametrize("name", ["taeda", "taeda.utils", "taeda.nn", "taeda.utils.data"])
def test_every_listed_name_is_there(name):
    try:
        package = importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is a package of its own, and not installed")
    apart = {f"taeda.{part}" for part in DISTRIBUTIONS}  # listed whether they are installed or not
    absent = [n for n in dir(package) if f"{name}.{n}" not in apart and not hasattr(package, n)]
    assert absent == []
    assert "" not in dir(package)
