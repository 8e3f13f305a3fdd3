"""CUDA kernels without nvcc: NVRTC, which CuPy brings, compiles device code to PTX, and CuPy launches it.

Device code only: NVRTC knows no host functions and no `<<<>>>`. So a kernel is called from Python,
with a grid and a block, and taeda's tensors, which lie on the cpu, are copied to the device and
back.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import taeda
from taeda._core_api.building import CompileError

__all__ = ["Kernel", "is_available", "kernels"]

_KERNEL = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(\w+)\s*\(')


def is_available() -> bool:
    """Is CuPy installed?"""
    return importlib.util.find_spec("cupy") is not None


def kernels(source: Path, flags: Sequence[str], arch: Sequence[str]) -> dict[str, Kernel]:
    """Compile `source` and return its `extern "C" __global__` functions by name.

    `arch` are nvcc's words of `_cuda.arch_flags`; PTX is made for the first of them, which later
    devices run too. CompileError holds NVRTC's own words.
    """
    text = source.read_text()
    number = re.search(r"compute_(\w+),", " ".join(arch))
    target = (f"--gpu-architecture=compute_{number[1]}",) if number else ()
    ptx = _compile(text, source.name, ("--std=c++17", *target, *flags))
    return {name: Kernel(name, ptx) for name in _KERNEL.findall(text)}


def _compile(text: str, name: str, options: tuple[str, ...]) -> bytes:
    try:
        from cupy.cuda import nvrtc  # pyright: ignore[reportMissingImports]  # optional

        program = nvrtc.createProgram(text, name, (), ())
    except MemoryError:
        raise
    except (
        ImportError,
        RuntimeError,
    ) as error:  # no CuPy that fits this machine, no NVRTC beside it
        raise CompileError(f"{name}: CuPy is installed and cannot compile: {error}") from None
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError as error:
        hint = "NVRTC compiles device code only; host code and <<<>>> need nvcc"
        raise CompileError(
            f"nvrtc {name}: {error}\n{nvrtc.getProgramLog(program)}\n{hint}"
        ) from None
    else:
        ptx: bytes = nvrtc.getPTX(program)
        return ptx
    finally:
        nvrtc.destroyProgram(program)


class Kernel:
    """A compiled kernel: `kernel(grid, block, arguments)`, sizes as tuples of one to three numbers.

    A Tensor among the arguments is copied to the device before and back after; a float crosses as
    double, an int as int64, whatever CuPy takes as it is. RuntimeError without a device.
    """

    def __init__(self, name: str, ptx: bytes) -> None:
        self.__name__, self.ptx = name, ptx
        self._function: Any = None

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[Any]
    ) -> None:
        launch = self._loaded()
        import cupy  # pyright: ignore[reportMissingImports]  # optional

        tensors = {i: a for i, a in enumerate(arguments) if isinstance(a, taeda.Tensor)}
        crossing = list(arguments)
        for i, tensor in tensors.items():
            crossing[i] = cupy.asarray(tensor.contiguous().numpy())
        launch(grid, block, tuple(crossing))
        for i, tensor in tensors.items():
            tensor.copy_(taeda.from_numpy(crossing[i].get()))

    def _loaded(self) -> Any:
        if self._function is None:
            import cupy  # pyright: ignore[reportMissingImports]  # optional

            try:
                cupy.cuda.runtime.getDeviceCount()
            except cupy.cuda.runtime.CUDARuntimeError as error:
                raise RuntimeError(
                    f"{self.__name__}: {error}; this function runs a CUDA kernel, which needs an "
                    "NVIDIA device and its driver"
                ) from None
            module = cupy.cuda.function.Module()
            module.load(self.ptx)
            self._function = module.get_function(self.__name__)
        return self._function
