"""A library as a Python module."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from plain_extension import write

from taeda.utils.cpp_extension import load


def test_plain_c_becomes_a_module(tmp_path):
    module = load("plain", [write(tmp_path / "plain.c", 7)])
    assert module.__name__ == "plain"
    assert module.answer().item() == 7


def test_a_changed_source_is_never_stale(tmp_path):
    """Each version gets a library of its own, because a loaded one cannot be replaced; going back
    finds the first.
    """
    source = write(tmp_path / "plain.c", 1)
    first = load("plain", source)
    second = load("plain", write(tmp_path / "plain.c", 2))
    again = load("plain", write(tmp_path / "plain.c", 1))
    assert [m.answer().item() for m in (first, second, again)] == [1, 2, 1]
    assert [Path(m.__file__).name for m in (first, second)] == ["plain.so", "plain_v1.so"]
    assert again is first
    assert second.__name__ == "plain"


def test_a_library_for_its_side_effects_and_an_executable(tmp_path):
    path = load("plain", write(tmp_path / "plain.c"), is_python_module=False)
    assert Path(path).name == "plain.so"
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
    )
    source = str(tmp_path / "main.c")
    program = load("hello", source, is_python_module=False, is_standalone=True)
    assert subprocess.check_output([program], text=True) == "hello\n"


def test_a_python_extension_is_imported(tmp_path):
    (tmp_path / "py.c").write_text(
        "#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n"
        'static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "py", "doc", -1, 0};\n'
        "PyMODINIT_FUNC PyInit_py(void) { return PyModule_Create(&def); }\n"
    )
    import sysconfig

    include = [sysconfig.get_path("include")]
    module = load("py", str(tmp_path / "py.c"), extra_include_paths=include)
    assert (module.__name__, module.__doc__) == ("py", "doc")
    with pytest.raises(ImportError, match=r"defines no module 'other'.*PyInit_other"):
        load("other", str(tmp_path / "py.c"), extra_include_paths=include)
