"""CUDA kernels without nvcc: NVRTC, which CuPy brings, compiles device code to PTX, and CuPy launches it.

Device code only: NVRTC knows no host functions and no `<<<>>>`. So a kernel is called from Python,
with a grid and a block. Tensors on a CUDA device are read and written where they lie, on the
current stream; those on the cpu are copied to the device and back.
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
    except (ImportError, RuntimeError) as error:
        # no CuPy that fits this machine, no NVRTC beside it
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

    A Tensor on a CUDA device crosses as the address of its first element, and the launch is queued
    on the current stream of that device; one on the cpu is copied to the device before and back
    after. A float crosses as double, an int as int64, whatever CuPy takes as it is. RuntimeError
    without a device, and for tensors on several; ValueError for tensors that are not contiguous.
    """

    def __init__(self, name: str, ptx: bytes) -> None:
        self.__name__, self.ptx = name, ptx
        self._functions: dict[int, Any] = {}  # by device: a module belongs to one

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[Any]
    ) -> None:
        tensors = {i: a for i, a in enumerate(arguments) if isinstance(a, taeda.Tensor)}
        devices = {str(tensor.device) for tensor in tensors.values()}
        if len(devices) > 1:
            found = " and ".join(sorted(devices))
            raise RuntimeError(f"{self.__name__}: wanted all tensors on one device, got {found}")
        if devices <= {"cpu"}:
            self._copied(grid, block, arguments, tensors)
        else:
            self._queued(grid, block, arguments, tensors)

    def _queued(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        arguments: Sequence[Any],
        tensors: dict[int, taeda.Tensor],
    ) -> None:
        crossing, device = list(arguments), next(iter(tensors.values())).device
        for i, tensor in tensors.items():
            if not tensor.is_contiguous():
                raise ValueError(
                    f"{self.__name__}: argument {i} is not contiguous, and a kernel gets its "
                    "address only: give x.contiguous()"
                )
            crossing[i] = tensor.data_ptr()
        import cupy  # pyright: ignore[reportMissingImports]  # optional

        stream = cupy.cuda.ExternalStream(taeda.cuda.current_stream(device).cuda_stream)
        with cupy.cuda.Device(device.index or 0):
            self._loaded(device.index or 0)(grid, block, tuple(crossing), stream=stream)

    def _copied(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        arguments: Sequence[Any],
        tensors: dict[int, taeda.Tensor],
    ) -> None:
        launch, crossing = self._loaded(0), list(arguments)
        import cupy  # pyright: ignore[reportMissingImports]  # optional

        for i, tensor in tensors.items():
            crossing[i] = cupy.asarray(tensor.contiguous().numpy())
        launch(grid, block, tuple(crossing))
        for i, tensor in tensors.items():
            tensor.copy_(taeda.from_numpy(crossing[i].get()))

    def _loaded(self, device: int) -> Any:
        if device not in self._functions:
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
            self._functions[device] = module.get_function(self.__name__)
        return self._functions[device]
