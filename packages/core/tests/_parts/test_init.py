"""Packages whose names are found when they are asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys
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


ARCHIVED = """
import importlib.abc, importlib.util, sys
from pathlib import Path

class Archive(importlib.abc.InspectLoader):
    '''Modules of _parts as a frozen program has them: by a finder for their folder, which is not on disk.'''

    def __init__(self, place):
        if Path(place).name != "_parts":
            raise ImportError(place)
        self.place = Path(place)

    def find_spec(self, name, target=None):
        return importlib.util.spec_from_loader(name, self)

    def get_source(self, name):
        return (self.place / (name.rpartition(".")[2] + ".py")).read_text()

sys.path_hooks.insert(0, Archive)
import taeda
assert type(sys.modules["taeda._parts.packages"].__loader__) is Archive
assert taeda.ones(2).sum().item() == 2
"""


def test_the_first_module_is_found_by_pythons_finders():
    """It was opened as a file beside the library, which a frozen program does not have."""
    command = [sys.executable, "-c", ARCHIVED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
