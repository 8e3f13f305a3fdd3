"""The array API standard (2025.12): the namespace that `Tensor.__array_namespace__` gives to libraries of arrays.

Its functions have the standard's names, arguments and promotion; `taeda` itself has those of the field. What differs between a
tensor and an array of the standard: `x.size` is a method (ask `array_api_compat.size(x)`), and operators promote a tensor
without dimensions by its kind alone. uint64 has no division, remainder, extremes of pairs and shift to the right yet.

>>> import taeda
>>> xp = taeda.ones(2).__array_namespace__()
>>> xp.sum(xp.asarray([[1, 2], [3, 4]]), axis=0, keepdims=True)
tensor([[4, 6]])
"""

from __future__ import annotations

import math as _math

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

__array_api_version__ = "2025.12"

_PARTS = (_creation, _dtypes, _elementwise, _manipulation, _reduction, _searching)
globals().update({name: getattr(part, name) for part in _PARTS for name in part.__all__})
matmul, tensordot, vecdot = linalg.matmul, linalg.tensordot, linalg.vecdot
matrix_transpose = linalg.matrix_transpose

e, inf, nan, pi, newaxis = _math.e, _math.inf, _math.nan, _math.pi, None
_DTYPES = {str(d).removeprefix("taeda."): d for d in _info.Info().dtypes().values()}
globals().update(_DTYPES)
Device, Dtype = _taeda.device, _taeda.dtype


def __array_namespace_info__() -> _info.Info:
    """The object that answers questions about this namespace."""
    return _info.Info()


__all__ = sorted({  # noqa: PLE0605 - names from the parts
    *(name for part in _PARTS for name in part.__all__), *_DTYPES, "__array_api_version__", "__array_namespace_info__",
    "e", "fft", "inf", "linalg", "matmul", "matrix_transpose", "nan", "newaxis", "pi", "tensordot", "vecdot",
})  # fmt: skip
