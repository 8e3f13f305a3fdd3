"""The package that the template makes: built, imported and tested as its author would."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import zipfile

import pytest

from taeda.utils.cpp_extension import build_library, wheel_tag
from taeda.utils.cpp_extension.__main__ import main


def test_names_and_folders_that_are_refused(tmp_path, capsys):
    assert main(["new", "Fast-Op", "--into", str(tmp_path)]) == 1
    assert "'Fast-Op' cannot be the name of a module" in capsys.readouterr().err
    (tmp_path / "there").mkdir()
    assert main(["new", "there", "--into", str(tmp_path)]) == 1
    assert "FileExistsError" in capsys.readouterr().err


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A new package with its library built in place, as an editable install does."""
    parent = tmp_path_factory.mktemp("new")
    assert main(["new", "fast_op", "--into", str(parent)]) == 0
    root = parent / "fast_op"
    build_library(
        "fast_op",
        [root / "csrc/fast_op.cpp"],
        root / "src/fast_op/_fast_op.so",
        extra_cflags=["-O0"],
    )
    return root


def test_the_new_package_has_no_word_of_the_template(package):
    files = [
        path for path in package.rglob("*") if path.is_file() and path.suffix not in (".so", ".o")
    ]
    assert {"pyproject.toml", "hatch_build.py", "README.md", ".gitignore"} <= {
        p.name for p in files
    }
    assert not [
        path for path in files if "my_op" in path.name or "my_op" in path.read_text(errors="ignore")
    ]


def test_its_own_tests_pass(package):
    pytest.importorskip(
        "taeda.autograd", reason="the package's tests check gradients, which taeda-autograd does"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "pythonpath=src",
    ]
    done = subprocess.run(command, cwd=package, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_its_wheel_serves_every_python(package, tmp_path):
    pytest.importorskip("hatchling", reason="building a wheel takes hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=package, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    platform = re.sub("[-.]", "_", sysconfig.get_platform())
    assert wheel.name == f"fast_op-0.1.0-py3-none-{platform}.whl" and wheel_tag() in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    own = {name for name in names if not name.startswith("fast_op-0.1.0.dist-info/")}
    # nothing of the build: its objects, and keys that name folders of the machine
    assert own == {"fast_op/__init__.py", "fast_op/_fast_op.so"}
    assert wheel.stat().st_size < 120_000
