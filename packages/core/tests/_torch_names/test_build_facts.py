"""What programs ask about how the library was built."""

from __future__ import annotations

import pytest

import taeda
from taeda._torch_names import build_facts


def test_answers():
    assert build_facts.compiled_with_cxx11_abi() is True
    assert build_facts.get_device_module() is taeda.cpu
    for kind in ("cpu", "cuda", "mps", "xpu"):
        assert build_facts.get_device_module(kind) is getattr(taeda, kind)
    assert build_facts.get_device_module(taeda.device("cuda:1")) is taeda.cuda
    with pytest.raises(RuntimeError, match="Device 'meta' does not have a corresponding module"):
        build_facts.get_device_module("meta")


def test_flags_of_older_programs_say_what_backends_say():
    from taeda import backends

    flags = {name: getattr(taeda, name) for name in build_facts.__all__ if name.startswith("has_")}
    assert all(type(flag) is bool for flag in flags.values())
    assert flags["has_lapack"] is True
    assert flags["has_openmp"] is backends.openmp.is_available()


def test_a_setup_py_is_told_of_cuda_where_device_code_can_be_made_or_run(monkeypatch, tmp_path):
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(taeda.cuda, "is_available", lambda: False)
    assert build_facts._device_code() is False
    monkeypatch.setattr(taeda.cuda, "is_available", lambda: True)
    assert build_facts._device_code() is True
    monkeypatch.setattr(taeda.cuda, "is_available", lambda: False)
    (tmp_path / "nvcc").touch(0o755)
    assert build_facts._device_code() is True
    (tmp_path / "nvcc").unlink()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert build_facts._device_code() is True
