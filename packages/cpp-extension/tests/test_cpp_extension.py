"""The names of the package: those that need setuptools come late, and SYCL is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from taeda.utils import cpp_extension


def test_every_name_is_there():
    pytest.importorskip("setuptools", reason="three of the names are classes for setuptools")
    for name in set(cpp_extension.__all__) - {"CUDA_HOME"}:
        assert callable(getattr(cpp_extension, name)), name
    assert set(cpp_extension.__all__) <= set(dir(cpp_extension))


def test_the_folder_of_cuda(monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert str(tmp_path) == cpp_extension.CUDA_HOME
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "gone"))
    assert cpp_extension.CUDA_HOME is None


def test_setuptools_is_loaded_when_it_is_named():
    code = (
        "import sys; from taeda.utils import cpp_extension; assert 'setuptools' not in "
        "sys.modules; dir(cpp_extension)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_setuptools_its_classes_say_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "setuptools", None)
    monkeypatch.delitem(sys.modules, "taeda.utils.cpp_extension._setuptools", raising=False)
    monkeypatch.delattr(cpp_extension, "_setuptools", raising=False)
    with pytest.raises(AttributeError, match=r"CppExtension needs setuptools.*pip install"):
        cpp_extension.CppExtension


def test_what_there_is_not():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        cpp_extension.nothing
    with pytest.raises(NotImplementedError, match=r"mine: .*SYCL"):
        cpp_extension.SyclExtension("mine", ["a.cpp"])
