"""`==`, `!=` and `/` of a tensor and an array of numpy.

An array leaves its operators to a tensor (`__array_priority__`), and Python takes "nobody knows"
for `==` as False: so a comparison has to be answered. Other operators of a tensor and an array come
from numpy, where the tensor stands first.
"""

from __future__ import annotations

from typing import Any

from .creation import _of_array

__all__ = ["divide", "equal", "not_equal"]


def equal(a: Any, b: Any) -> Any:
    """`a == b`, one of them a tensor; not implemented for arrays of dtypes that no tensor has."""
    return _compare("eq", a, b)


def not_equal(a: Any, b: Any) -> Any:
    """`a != b`, in the same way."""
    return _compare("ne", a, b)


def divide(a: Any, b: Any) -> Any:
    """`array / tensor` as numpy divides, as a tensor; the other way round is numpy's own."""
    import numpy as np

    if not isinstance(a, np.ndarray) or a.dtype.kind not in "biufcV":  # V: those of ml_dtypes
        return NotImplemented
    quotient = np.true_divide(a, np.asarray(b))
    return b.__array_wrap__(np.asarray(quotient))


def _compare(name: str, a: Any, b: Any) -> Any:
    import numpy as np

    tensor, array = (b, a) if isinstance(a, np.ndarray) else (a, b)
    try:
        other = _of_array(np.array(array, order="C"))  # a copy: steps may run backwards
    except TypeError:
        return NotImplemented
    return getattr(tensor, name)(other)
