"""Device code without nvcc."""

from __future__ import annotations

import pytest

import taeda
from taeda.utils.cpp_extension import _cuda, load_inline

DEVICE = """
extern "C" __global__ void thrice(float *x, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) x[i] *= FACTOR;
}
"""


def by_nvrtc(monkeypatch, source: str):
    pytest.importorskip("cupy", reason="NVRTC comes with CuPy, which is not installed")
    monkeypatch.setattr(_cuda, "has_nvcc", lambda: False)
    flags = {"extra_cflags": ["-O0"], "extra_cuda_cflags": ["-DFACTOR=3"]}
    return load_inline("device_only", "TAEDA_EXTENSION(m) {}", source, **flags)


def test_device_code_by_nvrtc(monkeypatch):
    kernel = by_nvrtc(monkeypatch, DEVICE).thrice
    assert b".visible .entry thrice" in kernel.ptx
    import cupy

    x = taeda.tensor([1.0, 2.0])
    if cupy.is_available():
        kernel((1,), (32,), (x, 2))
        assert x.tolist() == [3, 6]
    else:
        with pytest.raises(RuntimeError, match=r"thrice: .*needs an NVIDIA device and its driver"):
            kernel((1,), (32,), (x, 2))


def test_nvrtcs_words(monkeypatch):
    with pytest.raises(
        RuntimeError, match=r"(?s)'device_only'.*wrong_name.*host code and <<<>>> need nvcc"
    ):
        by_nvrtc(monkeypatch, "__global__ void f() { wrong_name(); }")


def test_neither_nvcc_nor_cupy(monkeypatch, tmp_path):
    monkeypatch.setattr(_cuda, "has_nvcc", lambda: False)
    monkeypatch.setattr(_cuda, "cuda_home", lambda: (_ for _ in ()).throw(OSError("none here")))
    monkeypatch.setattr("taeda.utils.cpp_extension._nvrtc.is_available", lambda: False)
    with pytest.raises(OSError, match="none here"):
        load_inline("x", "", "__global__ void f() {}")
