"""Where the build keeps what it made: nothing in a checkout that only gave a wheel."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from taeda._build import cc

SOURCE = Path(__file__).parents[1] / "hatch_build.py"


@pytest.fixture
def hatch_build(tmp_path, monkeypatch):
    """The build of an empty checkout, with a cache of its own."""
    spec = importlib.util.spec_from_file_location("hatch_build_under_test", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "checkout").mkdir()
    monkeypatch.setattr(module, "HERE", tmp_path / "checkout")
    monkeypatch.setattr(module, "BUILD", tmp_path / "checkout" / "build")
    monkeypatch.setenv("TAEDA_CACHE_DIR", str(tmp_path / "cache"))
    return module


def test_objects_of_a_wheel_lie_in_the_cache(hatch_build, tmp_path):
    with hatch_build.wheel_folder() as first:
        assert first.is_relative_to(tmp_path / "cache")
    with hatch_build.wheel_folder() as second:
        assert second == first
    assert list(hatch_build.HERE.iterdir()) == []


def test_the_cache_of_a_checkout_that_is_gone_goes(hatch_build, tmp_path, monkeypatch):
    with hatch_build.wheel_folder() as first:
        pass
    hatch_build.HERE.rmdir()
    monkeypatch.setattr(hatch_build, "HERE", tmp_path)
    with hatch_build.wheel_folder() as second:
        assert second != first
        assert not first.exists() and second.exists()


def test_a_developers_objects_serve_the_wheel(hatch_build):
    (hatch_build.BUILD / "native").mkdir(parents=True)
    with hatch_build.wheel_folder() as folder:
        assert folder == hatch_build.BUILD / "native"


def test_a_source_distribution_leaves_nothing(hatch_build, tmp_path):
    (hatch_build.HERE / "PKG-INFO").touch()
    with hatch_build.wheel_folder() as folder:
        assert folder.is_dir()
    assert not folder.exists() and not (tmp_path / "cache").exists()


def test_a_home_that_cannot_be_written_is_no_obstacle(hatch_build, tmp_path):
    (tmp_path / "cache").write_text("a file in the way")
    with hatch_build.wheel_folder() as folder:
        assert folder.is_dir()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("linker", "smaller"), [("GNU ld (GNU Binutils) 2.40", True), ("LLD 17.0.6", False)]
)
def test_only_a_linker_that_knows_the_script_gets_it(
    hatch_build, tmp_path, monkeypatch, linker, smaller
):
    told = subprocess.CompletedProcess([], 0, stdout=linker)
    monkeypatch.setattr(hatch_build.subprocess, "run", lambda *args, **options: told)
    flags = hatch_build._smaller(tmp_path)
    assert bool(flags) == smaller == (tmp_path / "wheel.ld").is_file()
    if smaller:
        script = (tmp_path / "wheel.ld").read_text()
        assert all(f"*-{isa}-*.o(.eh_frame)" in script for isa in hatch_build.ISA_FLAGS)


@pytest.mark.parametrize("name", ["NONE", "TRUE", "FALSE", "NOTIMPLEMENTED"])
def test_what_is_returned_is_counted_whatever_python_s_headers_say(tmp_path, name):
    """A core built by Python 3.12 or later runs on 3.11, where None and its kin are not immortal."""
    source = tmp_path / "returns.c"
    source.write_text(
        "#define Py_LIMITED_API 0x030B0000\n#include <Python.h>\n"
        f"#undef Py_RETURN_{name}\n#define Py_RETURN_{name} return immortal\n"
        f'#include "object/py.h"\nhere: Py_RETURN_{name};\n'
    )
    folders = [f"-I{SOURCE.parent / part}" for part in ("csrc", "src/taeda/include")]
    command = [*cc.compiler(), "-E", "-P", *folders, f"-I{cc.python_include()}", str(source)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    returned = said.rpartition("here:")[2]
    assert "_Py_NewRef" in returned and "immortal" not in returned


def test_python_s_header_comes_through_ours():
    csrc = SOURCE.parent / "csrc"
    direct = {
        str(path.relative_to(csrc))
        for path in csrc.rglob("*.[ch]")
        if "#include <Python.h>" in path.read_text()
    }
    assert direct == {"object/py.h", "package/quiet.h"}
    assert not any("Py_RETURN_" in path.read_text() for path in csrc.glob("package/*"))
