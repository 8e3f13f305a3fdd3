"""The array API standard (2025.12): the namespace that `Tensor.__array_namespace__` gives to
libraries of arrays.

Its functions have the standard's names, arguments and promotion; `taeda` itself has those of the
field. What differs between a tensor and an array of the standard: `x.size` is a method (ask
`array_api_compat.size(x)`), and operators promote a tensor without dimensions by its kind alone.
uint64 has no division, remainder, extremes of pairs and shift to the right yet.

>>> import taeda
>>> xp = taeda.ones(2).__array_namespace__()
>>> xp.sum(xp.asarray([[1, 2], [3, 4]]), axis=0, keepdims=True)
tensor([[4, 6]])
"""

from __future__ import annotations

import math as _math
from collections.abc import Callable as _Callable
from typing import TYPE_CHECKING as _TYPES
from typing import Any as _Any

import taeda as _taeda

from . import (
    _creation,
    _dtypes,
    _elementwise,
    _info,
    _manipulation,
    _reduction,
    _searching,
    fft,
    linalg,
)
from ._creation import *  # noqa: F403 - the parts' names are the namespace
from ._dtypes import *  # noqa: F403 - as above
from ._elementwise import *  # noqa: F403 - as above
from ._manipulation import *  # noqa: F403 - as above
from ._reduction import *  # noqa: F403 - as above
from ._searching import *  # noqa: F403 - as above

__array_api_version__ = "2025.12"

_PARTS = (_creation, _dtypes, _elementwise, _manipulation, _reduction, _searching)
matmul, tensordot, vecdot = linalg.matmul, linalg.tensordot, linalg.vecdot
matrix_transpose = linalg.matrix_transpose

e, inf, nan, pi, newaxis = _math.e, _math.inf, _math.nan, _math.pi, None
bool = _taeda.bool
int8, int16, int32, int64 = _taeda.int8, _taeda.int16, _taeda.int32, _taeda.int64
uint8, uint16, uint32, uint64 = _taeda.uint8, _taeda.uint16, _taeda.uint32, _taeda.uint64
float32, float64 = _taeda.float32, _taeda.float64
complex64, complex128 = _taeda.complex64, _taeda.complex128
Device, Dtype = _taeda.device, _taeda.dtype


if _TYPES:
    # the functions of elements are made in a loop, which type checkers do not follow

    def __getattr__(name: str) -> _Callable[..., _Any]:
        raise AttributeError(name)


def __array_namespace_info__() -> _info.Info:
    """The object that answers questions about this namespace."""
    return _info.Info()


__all__ = sorted({  # noqa: PLE0605 - names from the parts
    *(name for part in _PARTS for name in part.__all__), *_info.Info().dtypes(),
    "__array_api_version__", "__array_namespace_info__",
    "e", "fft", "inf", "linalg", "matmul", "matrix_transpose", "nan", "newaxis", "pi", "tensordot", "vecdot",
})  # fmt: skip
