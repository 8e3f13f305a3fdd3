"""Libraries for packages that ship a compiled operator, and the tag of their wheels."""

from __future__ import annotations

import os
import sysconfig

import pytest
from plain_extension import write

from taeda.utils.cpp_extension import build_library, import_library, wheel_tag


def test_the_library_lies_where_it_was_asked_for(tmp_path):
    source, out = write(tmp_path / "own.c", 8), tmp_path / "package" / "_own.so"
    out.parent.mkdir()
    made = build_library("own", [source], out, extra_cflags=["-O0"])
    assert made == out and out.is_file()
    assert (tmp_path / "build" / "_own").is_dir() and os.listdir(out.parent) == ["_own.so"]
    assert import_library("own_of_a_package", out).answer().item() == 8


def test_what_is_unchanged_is_not_built_again(tmp_path):
    source, out, folder = write(tmp_path / "own.c"), tmp_path / "own.so", tmp_path / "objects"
    build_library("own", [source], out, build_directory=folder)
    before = out.stat().st_mtime_ns
    build_library("own", [source], out, build_directory=folder)
    assert out.stat().st_mtime_ns == before
    build_library("own", [write(tmp_path / "own.c", 2)], out, build_directory=folder)
    assert out.stat().st_mtime_ns > before


def test_options_reach_the_compiler(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "value.h").write_text("#define VALUE 5\n")
    source = tmp_path / "own.c"
    write(source, "VALUE + MORE")
    source.write_text('#include "value.h"\n' + source.read_text())
    out = build_library(
        "own",
        [source],
        tmp_path / "own.so",
        extra_cflags=["-DMORE=2"],
        extra_include_paths=[str(tmp_path / "include")],
    )
    assert import_library("own_with_options", out).answer().item() == 7


def test_errors_are_those_of_load(tmp_path):
    (tmp_path / "bad.c").write_text("int f(void) { return wrong_name; }\n")
    with pytest.raises(RuntimeError, match=r"(?s)Error building extension 'bad'.*wrong_name"):
        build_library("bad", [tmp_path / "bad.c"], tmp_path / "bad.so")
    assert not (tmp_path / "bad.so").exists()
    with pytest.raises(ImportError, match="cannot open the extension"):
        import_library("bad", tmp_path / "bad.so")


def test_the_tag_names_the_platform_alone():
    python, abi, platform = wheel_tag().split("-")
    assert (python, abi) == ("py3", "none")
    assert platform == sysconfig.get_platform().replace("-", "_").replace(".", "_")
