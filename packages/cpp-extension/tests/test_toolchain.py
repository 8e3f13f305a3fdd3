"""What is said about the compilers of this machine."""

from __future__ import annotations

import pytest

from taeda.utils import cpp_extension
from taeda.utils.cpp_extension import library_paths
from taeda.utils.cpp_extension._toolchain import CompilerVersion, jobs


def test_version_and_compatibility():
    compatible, version = cpp_extension.get_compiler_abi_compatibility_and_version("g++")
    assert compatible and version >= (8, 0) and version > "7.9"
    assert cpp_extension.check_compiler_is_gcc("g++")
    assert cpp_extension.check_compiler_ok_for_platform("g++")


def test_what_is_no_compiler():
    for command in ("no-such-compiler", "true"):
        assert cpp_extension.get_compiler_abi_compatibility_and_version(command) == (False, "0.0.0")
        assert not cpp_extension.check_compiler_ok_for_platform(command)


def test_versions_compare_by_number():
    version = CompilerVersion("12.2.0")
    assert version > "9.10" and version >= (12, 2) and version == "12.2" and version < "12.10"
    with pytest.raises(TypeError, match="compares with a text or a tuple"):
        assert version < 12


def test_compiler_by_environment(monkeypatch):
    monkeypatch.setenv("CXX", "clang++ -v")
    assert cpp_extension.get_cxx_compiler() == "clang++ -v"
    monkeypatch.delenv("CXX")
    assert cpp_extension.get_cxx_compiler() == "c++"


def test_ninja(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert not cpp_extension.is_ninja_available()
    with pytest.raises(RuntimeError, match="ninja is not installed"):
        cpp_extension.verify_ninja_availability()
    (tmp_path / "ninja").write_text("")
    assert cpp_extension.is_ninja_available()
    cpp_extension.verify_ninja_availability()


def test_jobs(monkeypatch):
    assert jobs() is None
    monkeypatch.setenv("MAX_JOBS", "3")
    assert jobs() == 3


def test_paths(monkeypatch, tmp_path):
    abi, hpp = cpp_extension.include_paths()
    from pathlib import Path

    assert (Path(abi) / "taeda/abi.h").is_file() and (Path(hpp) / "taeda/taeda.hpp").is_file()
    assert library_paths() == []
    with pytest.raises(ValueError, match="device_type must be 'cpu' or 'cuda', got 'tpu'"):
        cpp_extension.include_paths("tpu")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    with pytest.raises(OSError, match="there is no bin/nvcc in it"):
        cpp_extension.include_paths("cuda")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cpp_extension.get_default_build_root() == str(tmp_path / "taeda_extensions")
