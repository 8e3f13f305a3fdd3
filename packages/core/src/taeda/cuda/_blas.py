"""cuBLASLt for products of matrices, and handles of cuBLAS for other libraries.

`TAEDA_LIBCUBLASLT` and `TAEDA_LIBCUBLAS` name other libraries than the installed ones.
"""

from __future__ import annotations

import ctypes
import os
import threading
from functools import cache

from taeda._native import core as _core
from taeda._warnings import warn

from ._devices import current_device, init
from ._libraries import opened
from ._streams import current_stream

__all__ = ["current_blas_handle", "open_product_library"]

_CURE = (
    "install it with `pip install taeda-core[cuda12]`, or taeda-core[cuda13], by your driver's CUDA"
)


@cache
def _product_library(newest: int) -> ctypes.CDLL | None:
    return opened("cublasLt", "TAEDA_LIBCUBLASLT", newest)


def open_product_library(newest: int) -> int:
    """What `csrc/cuda/cublaslt.c` asks for: cuBLASLt as `dlopen` answers, 0 where there is none.

    `newest` is the major version of the driver's CUDA. What is missing is told by a warning, for
    our own kernels are slow.
    """
    library = _product_library(newest)
    if library is not None:
        return int(library._handle)
    named = os.environ.get("TAEDA_LIBCUBLASLT")
    warn(
        "products of matrices are computed by taeda's own kernels, which are slow: "
        f"{named or 'cuBLASLt'} was not found; {_CURE}"
    )
    return 0


# ---- handles ----

_handles = threading.local()  # of a thread: {ordinal: handle}


@cache
def _library() -> ctypes.CDLL:
    library = opened("cublas", "TAEDA_LIBCUBLAS", _core.cuda_driver_version() // 1000)
    if library is None:
        named = os.environ.get("TAEDA_LIBCUBLAS")
        raise RuntimeError(f"there is no handle: {named or 'cuBLAS'} was not found; {_CURE}")
    return library


def _checked(status: int, doing: str) -> None:
    if status:
        raise RuntimeError(f"cuBLAS failed with status {status} while {doing}")


def current_blas_handle() -> int:
    """The handle of cuBLAS (`cublasHandle_t`) of this thread and the current device, for libraries
    that call cuBLAS themselves. It works on the current stream as of this call.

    Products of taeda go through cuBLASLt and do not use it. RuntimeError without a device or
    without cuBLAS.

    >>> if taeda.cuda.is_available():
    ...     handle = taeda.cuda.current_blas_handle()  # for a library that calls cuBLAS
    """
    init()
    library, ordinal = _library(), current_device()
    kept: dict[int, ctypes.c_void_p] = vars(_handles).setdefault("kept", {})
    if ordinal not in kept:
        handle = ctypes.c_void_p()
        _checked(library.cublasCreate_v2(ctypes.byref(handle)), "making a handle")
        kept[ordinal] = handle
    stream = ctypes.c_void_p(current_stream().cuda_stream)
    _checked(library.cublasSetStream_v2(kept[ordinal], stream), "choosing the stream of a handle")
    return int(kept[ordinal].value or 0)
