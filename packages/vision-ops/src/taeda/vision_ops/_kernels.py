"""The compiled kernels: found beside this file, called with addresses of contiguous tensors."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["Bins", "Window", "call"]

_LETTERS = {taeda.float32: "f32", taeda.float64: "f64"}
_I64 = ctypes.c_int64


class Bins(ctypes.Structure):
    """The sizes of regions and pictures, as `csrc/kernels.c` has them."""

    _fields_ = [
        *((name, _I64) for name in ("regions", "channels", "height", "width", "rows", "columns",
            "of_picture")),
        ("scale", ctypes.c_double), ("samples", _I64), ("aligned", _I64),
    ]  # fmt: skip


class Window(ctypes.Structure):
    """The sizes of a deformable convolution, as `csrc/kernels.c` has them."""

    _fields_ = [
        *(
            (name, _I64)
            for name in ("height", "width", "rows", "columns", "out_height", "out_width")
        ),
        *((name, _I64 * 2) for name in ("stride", "padding", "dilation")),
        *((name, _I64) for name in ("channels", "offset_groups", "masked")),
    ]


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(__file__).parent / "lib" / "kernels.so"))


@functools.cache
def _function(name: str) -> Any:
    found = getattr(_library(), f"taeda_vision_{name}")
    found.restype = _I64 if name.startswith("nms") else None
    return found


def call(name: str, dtype: taeda.dtype, *arguments: Any) -> Any:
    """Run a kernel for float32 or float64 on tensors (contiguous, by address), structures and numbers.

    Python's lock is free meanwhile.
    """
    return _function(f"{name}_{_LETTERS[dtype]}")(*map(_passed, arguments))


def _passed(value: Any) -> Any:
    if isinstance(value, Tensor):
        return ctypes.c_void_p(value.data_ptr())
    if isinstance(value, ctypes.Structure):
        return ctypes.byref(value)
    return ctypes.c_double(value) if isinstance(value, float) else _I64(value)
