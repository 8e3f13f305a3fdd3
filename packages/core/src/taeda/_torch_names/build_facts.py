"""What programs ask about how the library was built, and for which devices."""

from __future__ import annotations

import importlib
import os
import shutil
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .. import backends, cuda
from .._native import core as _core

if TYPE_CHECKING:
    from taeda import Device

__all__ = [
    "compiled_with_cxx11_abi", "get_device_module", "has_cuda", "has_cudnn", "has_lapack", "has_mkl",
    "has_mkldnn", "has_mps", "has_openmp", "has_spectral",
]  # fmt: skip


def _device_code() -> bool:
    """Is there a card that runs it, or a compiler that makes it? `backends.cuda.is_built()` is true of every
    build, and a setup.py that took it for an answer would compile `.cu` files where no nvcc is.
    """
    named = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    return bool(named or shutil.which("nvcc") or cuda.is_available())


# what setup.py of older extensions asks for; of the others `taeda.backends` has the same under current names
has_cuda: bool = _device_code()
has_cudnn: bool = backends.cudnn.is_available()
has_lapack: bool = True
has_mkl: bool = backends.mkl.is_available()
has_mkldnn: bool = backends.mkldnn.is_available()
has_mps: bool = backends.mps.is_built()
has_openmp: bool = backends.openmp.is_available()
has_spectral: bool = True  # Fourier transforms


def compiled_with_cxx11_abi() -> bool:
    """True: extensions are compiled with the C++ library's current strings and lists; the core
    itself is C.

    >>> taeda.compiled_with_cxx11_abi()
    True
    """
    return True


def get_device_module(device: Device | None = None) -> ModuleType:
    """The module of a kind of device, by default of the accelerator, which is the cpu where there is none.

    Args:
        device: a device or its name, whose number does not count; None (the default) for that of
            the accelerator. RuntimeError for a kind without a module, such as "meta".

    >>> taeda.get_device_module("cpu").__name__
    'taeda.cpu'
    """
    ours = "cuda" if cuda.is_available() else "cpu"
    kind: Any = ours if device is None else _core.device(device).type
    try:
        return importlib.import_module(f"taeda.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Device '{kind}' does not have a corresponding module registered as 'taeda.{kind}'."
        ) from None
