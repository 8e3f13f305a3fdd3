"""Packages whose names are found when they are asked for."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from taeda._parts import DISTRIBUTIONS


@pytest.mark.parametrize("name", ["taeda", "taeda.utils", "taeda.nn", "taeda.utils.data"])
def test_every_listed_name_is_there(name):
    try:
        package = importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is a package of its own, and not installed")
    assert [name for name in dir(package) if not there_or_elsewhere(package, name)] == []
    assert "" not in dir(package)


def there_or_elsewhere(package: ModuleType, name: str) -> bool:
    """Names of distributions are listed whether they are installed or not; the error says which one
    to install.
    """
    try:
        getattr(package, name)
    except AttributeError as error:
        return any(distribution in str(error) for distribution in DISTRIBUTIONS.values())
    return True
