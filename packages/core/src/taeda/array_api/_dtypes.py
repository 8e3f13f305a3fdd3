"""Dtypes: their kinds, limits and promotion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor

from ._common import DTYPES, common, kind_of

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_GROUPS = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}


def astype(x: Tensor, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """x in another dtype: a copy, unless `copy` is False and nothing changes.

    >>> taeda.array_api.astype(taeda.tensor([1.5, 2.5]), taeda.int64)
    tensor([1, 2])
    """
    if x.dtype.is_complex and not dtype.is_complex and dtype is not taeda.bool:
        raise TypeError(f"astype: complex numbers have no {dtype}; take their real part")
    return x.to(device=device, dtype=dtype, copy=copy)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind: another dtype, a kind's name, or one of a tuple of both.
    ValueError for an unknown name.

    >>> taeda.array_api.isdtype(taeda.int8, "integral")
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if not isinstance(kind, str):
        return bool(dtype == kind)
    if kind not in DTYPES and kind not in _GROUPS:
        raise ValueError(f"isdtype: unknown kind {kind!r}; wanted one of {[*DTYPES, *_GROUPS]}")
    return kind_of(dtype) in _GROUPS.get(kind, (kind,))


def _dtype(value: Any) -> taeda.dtype:
    return value.dtype if isinstance(value, Tensor) else value


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether the promotion of both dtypes is the second.

    >>> taeda.array_api.can_cast(taeda.int32, taeda.float32)
    True
    """
    return taeda.promote_types(_dtype(from_), to) is to


def result_type(*arrays_and_dtypes: Any) -> taeda.dtype:
    """The dtype that arrays, dtypes and Python numbers are promoted to.
    ValueError without any array or dtype.

    >>> taeda.array_api.result_type(taeda.int32, taeda.int64)
    taeda.int64
    """
    values = [
        taeda.empty(0, dtype=v) if isinstance(v, taeda.dtype) else v for v in arrays_and_dtypes
    ]
    if not any(isinstance(v, Tensor) for v in values):
        raise ValueError("result_type: wanted an array or a dtype among the arguments")
    return common(*values)


@dataclass(frozen=True)
class _Floats:
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


@dataclass(frozen=True)
class _Integers:
    bits: int
    max: int
    min: int
    dtype: Any


def finfo(type: Any, /) -> _Floats:
    """Limits of a floating-point dtype, of an array too; of a complex one those of its parts.

    >>> taeda.array_api.finfo(taeda.float32).max
    3.4028234663852886e+38
    """
    dtype = _dtype(type)
    dtype = dtype.to_real() if dtype.is_complex else dtype
    i = taeda.finfo(dtype)
    return _Floats(
        i.bits, float(i.eps), float(i.max), float(i.min), float(i.smallest_normal), dtype
    )


def iinfo(type: Any, /) -> _Integers:
    """Limits of an integer dtype, of an array too.

    >>> taeda.array_api.iinfo(taeda.int8).max
    127
    """
    dtype = _dtype(type)
    i = taeda.iinfo(dtype)
    return _Integers(i.bits, int(i.max), int(i.min), dtype)
