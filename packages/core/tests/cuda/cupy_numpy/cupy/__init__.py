"""A stand-in for CuPy on a machine without a GPU: NumPy computes, and the arguments are those that
CuPy documents. Arrays stand for memory of a CUDA device, which they read and write by copies.
"""

import numpy as np

from . import _array, cuda, fft, linalg
from ._array import asarray, asnumpy, from_dlpack, ndarray

#: functions of one array
NAMES = ("conj",)
globals().update({name: _array.on_arrays(getattr(np, name)) for name in NAMES})
NAMES_OF_TWO = (
    "add",
    "all",
    "any",
    "argmax",
    "diagonal",
    "equal",
    "eye",
    "greater",
    "matmul",
    "multiply",
    "reciprocal",
    "subtract",
    "sum",
    "swapaxes",
    "where",
    "zeros",
)
globals().update({name: _array.on_arrays(getattr(np, name)) for name in NAMES_OF_TWO})
__all__ = ["asarray", "asnumpy", "cuda", "fft", "from_dlpack", "linalg", "ndarray"]
