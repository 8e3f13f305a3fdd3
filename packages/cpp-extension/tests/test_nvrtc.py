"""Device code without nvcc."""

from __future__ import annotations

import sys
from pathlib import Path

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


ON_DEVICE = """
import contextlib, sys, types, taeda
from taeda.utils.cpp_extension._nvrtc import Kernel

calls = []  # of CuPy, which this stands in for: it has no say in what a kernel computes

class Module:
    def load(self, ptx):
        calls.append(("load", ptx))

    def get_function(self, name):
        return lambda grid, block, args, stream: calls.append((name, grid, block, args, stream))

cupy = types.ModuleType("cupy")
cupy.cuda = types.SimpleNamespace(
    ExternalStream=lambda address: address,
    Device=lambda index: contextlib.nullcontext(calls.append(("device", index))),
    runtime=types.SimpleNamespace(getDeviceCount=lambda: 2, CUDARuntimeError=RuntimeError),
    function=types.SimpleNamespace(Module=Module),
)
sys.modules["cupy"] = cupy
kernel = Kernel("thrice", b"ptx")
x = taeda.ones(4, device="cuda:1")
stream = taeda.cuda.Stream("cuda:1")
with taeda.cuda.stream(stream):
    kernel((1,), (32,), (x, 4))
kernel((1,), (32,), (x, 4))
launch = ("thrice", (1,), (32,), (x.data_ptr(), 4))
assert calls == [("device", 1), ("load", b"ptx"), (*launch, stream.cuda_stream),
                 ("device", 1), (*launch, 0)], calls
for arguments, kind, words in (
    ((x, x.cpu()), RuntimeError, "wanted all tensors on one device, got cpu and cuda:1"),
    ((taeda.ones(2, 2, device="cuda").t(),), ValueError, "argument 0 is not contiguous"),
):
    try:
        kernel((1,), (1,), arguments)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
"""


def test_tensors_on_a_device_are_used_where_they_lie():
    sys.path.insert(0, str(Path(taeda.__file__).parents[2] / "tests" / "cuda"))
    standin = pytest.importorskip("standin", reason="the core's tests are not beside the package")
    standin.run(ON_DEVICE)
