"""Wheels that point at the checkout: made once, and made anew when what goes into them changed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import by_path
import pytest

editable = by_path.load("tools/hold/editable.py")
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "tried"
version = "0.1.0"

[tool.hatch.build]
dev-mode-dirs = ["src"]

[tool.hatch.build.targets.wheel]
packages = ["src/tried"]
"""


@pytest.fixture
def package(tmp_path) -> Path:
    folder = tmp_path / "tried"
    (folder / "src" / "tried").mkdir(parents=True)
    (folder / "src" / "tried" / "__init__.py").write_text("")
    (folder / "pyproject.toml").write_text(PROJECT)
    return folder


def test_a_wheel_points_at_the_sources_and_is_made_once(package, tmp_path):
    (wheel,) = editable.wheels([package], tmp_path / "build")
    with zipfile.ZipFile(wheel) as file:
        (path,) = (name for name in file.namelist() if name.endswith(".pth"))
        assert file.read(path).decode().strip() == str(package / "src")
    made = wheel.stat().st_mtime_ns
    assert editable.wheels([package], tmp_path / "build") == [wheel]
    assert wheel.stat().st_mtime_ns == made


@pytest.mark.parametrize("part", editable.PARTS)
def test_another_state_is_another_wheel_and_the_old_one_goes(package, tmp_path, part):
    before = editable.digest(package)
    (package / part).write_text((PROJECT if part == "pyproject.toml" else "") + "\n# changed\n")
    assert editable.digest(package) != before
    old = tmp_path / "build" / f"tried-{before}"
    old.mkdir(parents=True)
    (wheel,) = editable.wheels([package], tmp_path / "build")
    assert wheel.is_file() and not old.exists()


def test_where_the_checkout_is_takes_part(package, tmp_path):
    before = editable.digest(package)
    assert editable.digest(package.rename(tmp_path / "moved")) != before


def test_a_library_that_is_gone_from_the_checkout_is_compiled_again(package, tmp_path):
    (package / "csrc").mkdir()
    library = package / "src" / "tried" / "kernels.so"
    library.write_bytes(b"")
    (wheel,) = editable.wheels([package], tmp_path / "build")
    wheel.write_bytes(b"as it was")
    assert (
        editable.wheels([package], tmp_path / "build") == [wheel]
        and wheel.read_bytes() == b"as it was"
    )
    library.unlink()
    assert (
        editable.wheels([package], tmp_path / "build") == [wheel]
        and wheel.read_bytes() != b"as it was"
    )
