"""What programs ask of CUDA's runtime by name, answered by the driver: `taeda.cuda.cudart()`.

Each function that only acts returns an error code, as the runtime's does.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

from taeda._native import core as _core

from . import _devices, memory

__all__ = [
    "cudaError", "cudaGetErrorString", "cudaHostRegister", "cudaHostUnregister", "cudaMemGetInfo",
    "cudaProfilerStart", "cudaProfilerStop",
]  # fmt: skip


class cudaError(int):
    """A code of an error; 0 is none."""

    success: cudaError


cudaError.success = cudaError(0)


@cache
def _driver() -> ctypes.CDLL:
    """The library that the core has opened."""
    _core.cuda_memory(_devices.current_device())  # opens it, or says why not
    return ctypes.CDLL(os.environ.get("TAEDA_LIBCUDA") or "libcuda.so.1")


def cudaProfilerStart() -> cudaError:  # noqa: N802
    """Let a profiler that watches this process collect from here on."""
    return cudaError(_driver().cuProfilerStart())


def cudaProfilerStop() -> cudaError:  # noqa: N802
    """Let a profiler that watches this process collect no more."""
    return cudaError(_driver().cuProfilerStop())


def cudaMemGetInfo(device: int | None = None) -> tuple[int, int]:  # noqa: N802
    """Free and total bytes of a device."""
    return memory.mem_get_info(device)


def cudaHostRegister(address: int, size: int, flags: int = 0) -> cudaError:  # noqa: N802
    """Lock the pages of memory that somebody else has, so that devices read it on their own."""
    return cudaError(
        _driver().cuMemHostRegister_v2(ctypes.c_void_p(address), ctypes.c_size_t(size), flags)
    )


def cudaHostUnregister(address: int) -> cudaError:  # noqa: N802
    """Undo `cudaHostRegister`."""
    return cudaError(_driver().cuMemHostUnregister(ctypes.c_void_p(address)))


def cudaGetErrorString(code: int) -> str:  # noqa: N802
    """What a code means."""
    text = ctypes.c_char_p()
    _driver().cuGetErrorString(int(code), ctypes.byref(text))
    return text.value.decode() if text.value else "unrecognized error code"
