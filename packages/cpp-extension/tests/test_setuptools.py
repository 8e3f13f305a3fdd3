"""setup.py projects: what `python setup.py build_ext --inplace` and a wheel make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from taeda.utils import cpp_extension

setuptools = pytest.importorskip(
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


def test_operators_beside_an_own_start_are_there_after_the_import(tmp_path):
    project(
        tmp_path,
        "#include <Python.h>\n#include <torch/extension.h>\n"
        'static PyModuleDef def = {PyModuleDef_HEAD_INIT, "proj_ext", "own", -1};\n'
        'extern "C" PyObject *PyInit_proj_ext(void) { return PyModule_Create(&def); }\n'
        "at::Tensor more(const at::Tensor &x) { return x + MORE; }\n"
        'TORCH_LIBRARY(own_start, m) { m.def("more(Tensor x) -> Tensor", more); }\n',
    )
    built(tmp_path)
    code = (
        "import proj_ext, taeda; print(proj_ext.__doc__, taeda.ops.own_start.more(taeda.ones(1)))"
    )
    done = python(tmp_path, "-c", code)
    assert done.stdout.strip() == "own tensor([5.])", done.stderr


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


def command(folder: Path, extension, kind=cpp_extension.BuildExtension):
    """`build_ext` of a project with one extension, as setuptools runs it."""
    made = kind(setuptools.Distribution({"name": "proj", "ext_modules": [extension]}))
    made.build_lib, made.build_temp = str(folder / "lib"), str(folder / "temp")
    made.ensure_finalized()
    return made


def test_what_setup_says_reaches_the_compiler(tmp_path):
    extension = cpp_extension.CppExtension(
        "pack.ext",
        ["a.cpp", "b.c"],
        define_macros=[("ONE", None), ("TWO", "2")],
        undef_macros=["THREE"],
        extra_compile_args={"cxx": ["-O0"], "nvcc": ["-lineinfo"]},
        include_dirs=["mine"],
        library_dirs=["libs"],
        runtime_library_dirs=["run"],
        libraries=["m"],
        extra_objects=["given.o"],
        extra_link_args=["-Wl,-s"],
    )
    request = command(tmp_path, extension)._request(extension)
    assert (request.name, request.folder) == ("ext", tmp_path / "temp" / "pack.ext")
    assert request.sources == (Path("a.cpp").absolute(), Path("b.c").absolute())
    assert request.cflags == ("-DONE", "-DTWO=2", "-UTHREE", "-O0")
    assert request.cuda_cflags == ("-DONE", "-DTWO=2", "-UTHREE", "-lineinfo")
    assert request.include_paths[:1] == ("mine",) and not request.cuda
    words = [word for word in request.ldflags if "undefined" not in word and "lookup" not in word]
    assert [words[0], *words[-3:]] == ["given.o", "-Wl,-rpath,run", "-lm", "-Wl,-s"]
    assert "-Llibs" in words


def test_the_limited_api_is_for_the_glue_and_for_who_asks(tmp_path):
    source = tmp_path / "a.cpp"
    source.touch()
    for limited in (False, True):
        extension = cpp_extension.CppExtension("ext", [str(source)], py_limited_api=limited)
        made = command(tmp_path, extension)
        own, glue = made._units(made._request(extension), extension)
        assert any("Py_LIMITED_API" in flag for flag in glue.flags)
        assert any("Py_LIMITED_API" in flag for flag in own.flags) == limited
        assert (own.source.name, glue.source.name) == ("a.cpp", "python_module.c")


def test_a_library_keeps_local_names_where_somebody_debugs(tmp_path):
    extension = cpp_extension.CppExtension("ext", ["a.cpp"])
    made = command(tmp_path, extension)
    plain = made._request(extension)
    extension.extra_compile_args = ["-g"]
    assert made._stripped(plain) == ("-Wl,-s",) and made._stripped(made._request(extension)) == ()
    made.debug = True
    assert made._stripped(plain) == ()


def test_a_build_in_this_process(tmp_path):
    source = tmp_path / "own.c"
    source.write_text(
        '#include <Python.h>\nstatic PyModuleDef def = {PyModuleDef_HEAD_INIT, "own", "mine", -1};\n'
        "PyMODINIT_FUNC PyInit_own(void) { return PyModule_Create(&def); }\n"
    )
    kind = cpp_extension.BuildExtension.with_options(no_python_abi_suffix=True)
    command(tmp_path, cpp_extension.CppExtension("own", [str(source)]), kind).run()
    library = tmp_path / "lib" / "own.so"
    done = python(library.parent, "-c", "import own; print(own.__doc__)")
    assert done.stdout == "mine\n", done.stderr
    source.write_text("int x = wrong;")
    with pytest.raises(setuptools.errors.CompileError, match="wrong"):
        command(tmp_path, cpp_extension.CppExtension("own", [str(source)]), kind).run()
