"""What PyInstaller is told; the session `frozen` runs a program that it froze."""

from __future__ import annotations

import runpy
import sys
import types
from importlib.metadata import distribution
from pathlib import Path

import pytest


@pytest.fixture
def told(monkeypatch):
    """The names that the hook sets, with PyInstaller's helpers in place of their results."""
    hooks = types.ModuleType("PyInstaller.utils.hooks")
    for name in ("collect_data_files", "collect_dynamic_libs", "copy_metadata"):
        setattr(hooks, name, lambda package, name=name, **options: [(name, package)])
    for name, module in {
        "PyInstaller": None,
        "PyInstaller.utils": None,
        hooks.__name__: hooks,
    }.items():
        monkeypatch.setitem(sys.modules, name, module or types.ModuleType(name))
    points = distribution("taeda-core").entry_points.select(group="pyinstaller40")
    (folder,) = points["hook-dirs"].load()()
    return runpy.run_path(str(Path(folder) / "hook-taeda.py"))


def test_the_file_that_the_compiled_package_runs_comes_as_data(told):
    file, target = told["datas"][-1]
    assert target == "taeda" and Path(file).is_file() and Path(file).name == "__init__.py"


def test_versions_come_along(told):
    assert ("copy_metadata", "taeda-core") in told["datas"]


def test_modules_stay_files_and_libraries_come_along(told):
    assert told["module_collection_mode"] == {"taeda": "py"}
    # `_composite` has no `__init__`
    names = {"taeda", "taeda.linalg", "taeda._composite.linalg_factor", "cffi"}
    assert names < set(told["hiddenimports"])
    assert not [name for name in told["hiddenimports"] if name.endswith(("__main__", "hook-taeda"))]
    assert {("collect_dynamic_libs", name) for name in ("taeda", "scipy_openblas32")} == set(
        told["binaries"]
    )
