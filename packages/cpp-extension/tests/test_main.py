"""The command line, and the package that it makes: built, imported and tested as its author would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taeda.utils.cpp_extension import import_library
from taeda.utils.cpp_extension.__main__ import main


def test_help(capsys):
    with pytest.raises(SystemExit) as done:
        main(["--help"])
    assert done.value.code == 0
    said = capsys.readouterr().out
    assert all(word in said for word in ("new my_op", "build a.cpp", "info", "make a package"))


def test_info(capsys, monkeypatch):
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    assert main(["info"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"C\+\+ compiler: +c\+\+ \d+\.\d+", said)
    assert re.search(
        r"CUDA toolkit: +CUDA_HOME is '/nowhere', and there is no bin/nvcc in it", said
    )
    assert re.search(r"wheels are tagged: +py3-none-", said)


def test_build_and_import(tmp_path, capsys):
    source = tmp_path / "three-times.c"
    source.write_text("#include <Python.h>\n")  # not on the path: refused with the compiler's words
    assert main(["build", str(source)]) == 1
    assert "Error building extension 'three_times'" in capsys.readouterr().err
    scale = Path(__file__).parents[2] / "core/tests/extensions/scale.c"
    assert main(["build", str(scale), "--out", str(tmp_path / "scale.so"), "--cflag=-O1"]) == 0
    module = import_library("scale_by_command", tmp_path / "scale.so")
    assert module.twice.__name__ == "twice"
