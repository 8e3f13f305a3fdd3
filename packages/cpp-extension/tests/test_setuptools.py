"""setup.py projects: what `python setup.py build_ext --inplace` and a wheel make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from taeda.utils import cpp_extension

pytest.importorskip(
    "setuptools", reason="CppExtension and BuildExtension are for users of setuptools"
)

SETUP = """
from setuptools import setup
from taeda.utils.cpp_extension import BuildExtension, CppExtension
setup(
    name="proj", version="1.0", py_modules=[],
    ext_modules=[CppExtension("proj_ext", ["ext.cpp"], define_macros=[("VALUE", "3")],
                              extra_compile_args={compile_args})],
    cmdclass={{"build_ext": BuildExtension{options}}},
)
"""
SOURCE = """
#include <taeda/taeda.hpp>
taeda::Tensor value() { return taeda::scalar<float>(VALUE + MORE); }
TAEDA_EXTENSION(m) { m.def("value", value, "the value"); }
"""


def project(
    folder: Path, source: str = SOURCE, options: str = "", args: object = ("-O0", "-DMORE=4")
) -> None:
    given = args if isinstance(args, dict) else list(args)
    (folder / "setup.py").write_text(SETUP.format(options=options, compile_args=given))
    (folder / "ext.cpp").write_text(source)


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)


def built(folder: Path) -> str:
    done = python(folder, "setup.py", "-q", "build_ext", "--inplace")
    assert done.returncode == 0, done.stderr
    (library,) = folder.glob("proj_ext*.so")
    return library.name


@pytest.mark.parametrize(
    "args", [("-O0", "-DMORE=4"), {"cxx": ["-O0", "-DMORE=4"], "nvcc": []}], ids=["list", "dict"]
)
def test_the_extension_is_imported_by_name(tmp_path, args):
    project(tmp_path, args=args)
    assert built(tmp_path) == "proj_ext" + __import__("sysconfig").get_config_var("EXT_SUFFIX")
    done = python(
        tmp_path, "-c", "import proj_ext; print(proj_ext.value().item(), proj_ext.value.__doc__)"
    )
    assert done.stdout.startswith("7.0 the value"), done.stderr


def test_the_name_without_the_python_version(tmp_path):
    project(tmp_path, options=".with_options(no_python_abi_suffix=True, use_ninja=False)")
    assert built(tmp_path) == "proj_ext.so"


def test_a_module_of_python_keeps_its_own_start(tmp_path):
    project(
        tmp_path,
        '#include <Python.h>\nstatic PyModuleDef def = {PyModuleDef_HEAD_INIT, "proj_ext", "own", -1};\n'
        "PyMODINIT_FUNC PyInit_proj_ext(void) { return PyModule_Create(&def); }\n",
    )
    built(tmp_path)
    assert (
        python(tmp_path, "-c", "import proj_ext; print(proj_ext.__doc__)").stdout.strip() == "own"
    )


def test_refusals(tmp_path):
    project(tmp_path, "int x = wrong;")
    assert "wrong" in python(tmp_path, "setup.py", "-q", "build_ext", "--inplace").stderr
    project(tmp_path, "int x;")
    built(tmp_path)
    done = python(tmp_path, "-c", "import proj_ext")
    assert (
        "ImportError: the library has neither taeda_ext_init nor a PyInit function" in done.stderr
    )
    project(tmp_path, args={"rust": []})
    assert (
        "['rust'] are none of the languages"
        in python(tmp_path, "setup.py", "-q", "build_ext").stderr
    )


def test_options():
    with pytest.raises(TypeError, match="BuildExtension has no option ninja"):
        cpp_extension.BuildExtension.with_options(ninja=True)
    chosen = cpp_extension.BuildExtension.with_options(use_ninja=False)
    assert issubclass(chosen, cpp_extension.BuildExtension) and not chosen.use_ninja


def test_extensions_know_the_headers():
    made = cpp_extension.CppExtension("x", ["x.cpp"], include_dirs=["mine"])
    assert made.include_dirs == ["mine", *cpp_extension.include_paths()]
    with pytest.raises(ValueError, match="keep each kernel in one file"):
        cpp_extension.CUDAExtension("x", ["x.cu"], dlink=True)
    with pytest.raises(NotImplementedError, match="no SYCL"):
        cpp_extension.SyclExtension("x", ["x.sycl"])
