"""Random matrices of every dtype, and comparing them with numpy's: what tests of linear algebra share."""

from __future__ import annotations

from typing import Any

import numpy as np

import taeda

__all__ = ["BATCHES", "DTYPES", "SIZES", "TOLERANCE", "close", "draw", "positive", "unit"]

TOLERANCE = {"float32": 2e-4, "float64": 1e-9, "complex64": 2e-4, "complex128": 1e-9}
DTYPES = list(TOLERANCE)
BATCHES = [(), (2,), (2, 1, 3)]
SIZES = [(4, 4), (5, 3), (3, 5)]


def draw(*shape: int, dtype: str = "float64", seed: int = 0) -> taeda.Tensor:
    """Normal numbers."""
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        array = array + 1j * rng.standard_normal(shape)
    return taeda.from_numpy(np.asarray(array)).to(getattr(taeda, dtype))


def positive(*shape: int, dtype: str = "float64") -> taeda.Tensor:
    """Hermitian and positive definite."""
    a = draw(*shape, dtype=dtype)
    return a @ a.mH + taeda.eye(shape[-1], dtype=a.dtype)


def close(got: taeda.Tensor, want: Any, dtype: str = "float64") -> None:
    """The same shape, and values within the tolerance of the dtype."""
    got = got.resolve_conj()
    want = want.resolve_conj().numpy() if isinstance(want, taeda.Tensor) else np.asarray(want)
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(got.numpy(), want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def unit(q: taeda.Tensor, dtype: str) -> None:
    """Columns are orthonormal."""
    close(q.mH @ q, taeda.eye(q.size(-1), dtype=q.dtype).expand(*q.shape[:-2], -1, -1), dtype)
