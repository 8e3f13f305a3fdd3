"""Tensors as arrays of float64 and back, without the conversions that are under test."""

from __future__ import annotations

from typing import Any

import numpy as np

import taeda

__all__ = ["ARRAY_DTYPES", "ARRAY_LAYOUTS", "normal", "values"]

ARRAY_DTYPES = "? u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 c8 c16".split()
ARRAY_LAYOUTS: dict[str, Any] = {
    "contiguous": lambda a: a,
    "turned": lambda a: a.T,
    "every second": lambda a: a[:, ::2],
    "column": lambda a: a[:, 1],
    "offset": lambda a: a[1:, 1],
    "scalar": lambda a: a[1, 1, ...],
    "empty": lambda a: a[:0],
    "spread": lambda a: np.lib.stride_tricks.as_strided(a, (2, 4), (0, a.strides[1])),
}


def values(t: taeda.Tensor) -> Any:
    """The elements as float64, or complex128."""
    return np.array(t.tolist(), dtype=complex if t.is_complex() else float).reshape(t.shape)


def normal(shape: Any, dtype: str = "float64", seed: int = 0) -> taeda.Tensor:
    """Standard normal numbers, both parts of complex ones."""
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        array = array + 1j * rng.standard_normal(shape)
    return taeda.from_numpy(np.ascontiguousarray(array)).to(getattr(taeda, dtype))
