"""CUDA sources: which flags, what is compiled, and what a machine without a device is told."""

from __future__ import annotations

import shutil

import pytest

import taeda
from taeda.utils.cpp_extension import _cuda, include_paths, load, load_inline

needs_nvcc = pytest.mark.skipif(
    shutil.which("nvcc") is None, reason="compiling CUDA sources needs the CUDA toolkit"
)
DECLARED = """
taeda::Tensor checked(taeda::Tensor x);
taeda::Tensor unchecked(taeda::Tensor x);
taeda::Tensor on_cpu(taeda::Tensor x) { return taeda::scalar<bool>(taeda::cuda::is_available()); }
"""
KERNEL = """
__global__ void twice(float *x, int64_t n)
{
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) x[i] *= 2;
}
taeda::Tensor checked(taeda::Tensor x)
{
    taeda::cuda::Buffer<float> on_device(x.data<float>(), x.numel());
    twice<<<unsigned(x.numel() / 256 + 1), 256>>>(on_device.get(), x.numel());
    taeda::Tensor y = taeda::empty_like(x);
    on_device.copy_to(y.mutable_data<float>());
    return y;
}
taeda::Tensor unchecked(taeda::Tensor x)
{
    twice<<<1, 256>>>(nullptr, 0);
    return x;
}
"""


@needs_nvcc
@pytest.mark.slow
def test_compiled_everywhere_and_run_where_there_is_a_device():
    module = load_inline(
        "with_cuda",
        "#include <taeda/cuda.hpp>\n" + DECLARED,
        KERNEL,
        functions=["checked", "unchecked", "on_cpu"],
        extra_cflags=["-O0"],
    )
    x = taeda.tensor([1.0, 2.0])
    if module.on_cpu(x).item():
        assert module.checked(x).tolist() == [2, 4]
        return
    for function, at in (
        (module.checked, "cudaMalloc"),
        (module.unchecked, "a kernel was not launched"),
    ):
        with pytest.raises(RuntimeError, match=f"{at}: .*needs an NVIDIA device and its driver"):
            function(x)
    assert not module.on_cpu(x).item()  # what launches nothing works


@needs_nvcc
def test_the_compilers_words(tmp_path):
    (tmp_path / "bad.cu").write_text("__global__ void f() { wrong_name(); }\n")
    with pytest.raises(RuntimeError, match=r"(?s)Error building extension 'bad'.*wrong_name"):
        load("bad", str(tmp_path / "bad.cu"))


def test_without_a_toolkit(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    (tmp_path / "x.cu").write_text("")
    with pytest.raises(OSError, match=r"CUDA_HOME is .* there is no bin/nvcc in it"):
        load("x", str(tmp_path / "x.cu"))
    monkeypatch.delenv("CUDA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_cuda, "STANDARD_PLACE", tmp_path / "cuda")
    with pytest.raises(OSError, match="set CUDA_HOME to the folder that holds bin/nvcc"):
        include_paths("cuda")


@pytest.mark.parametrize(
    ("listed", "flags"),
    [
        ("8.0", ["80,code=sm_80"]),
        ("8.0;9.0a+PTX", ["80,code=sm_80", "90a,code=sm_90a", "90a,code=compute_90a"]),
        ("7.5 Hopper", ["75,code=sm_75", "90,code=sm_90", "90,code=compute_90"]),
    ],
)
def test_devices_to_compile_for(monkeypatch, listed, flags):
    monkeypatch.setenv("TAEDA_CUDA_ARCH_LIST", listed)
    assert list(_cuda.arch_flags()) == [f"-gencode=arch=compute_{flag}" for flag in flags]


@pytest.mark.parametrize("listed", ["eight", "8", "8.0,9.0", "8.0+ptx"])
def test_devices_that_do_not_exist(monkeypatch, listed):
    monkeypatch.setenv("TAEDA_CUDA_ARCH_LIST", listed)
    with pytest.raises(
        ValueError,
        match=r"TAEDA_CUDA_ARCH_LIST: .* is no compute capability; wanted entries such as",
    ):
        _cuda.arch_flags()


# ---- without nvcc ----
