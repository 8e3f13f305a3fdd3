"""Fourier transforms by numpy, which is pocketfft: mixed radix, Bluestein for large primes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import taeda
from taeda import Tensor

__all__ = ["_fft_c2c", "_fft_c2r", "_fft_r2c"]


def _scaled(result: Any, points: int, normalization: int, dtype: Any) -> Tensor:
    if normalization:
        result = result * (1 / (math.sqrt(points) if normalization == 1 else points))
    return taeda.from_numpy(np.ascontiguousarray(result)).to(dtype)


def _sizes(x: Tensor, dim: Sequence[int]) -> int:
    return math.prod(x.size(d) for d in dim)


def _fft_c2c(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    """Unscaled in both directions, then normalized; over no dimension a copy."""
    if self.is_meta or not dim or self.numel() == 0:
        return taeda.empty_like(self).copy_(self)
    if forward:
        made = np.fft.fftn(self.numpy(), axes=tuple(dim), norm="backward")
    else:
        made = np.fft.ifftn(self.numpy(), axes=tuple(dim), norm="forward")
    return _scaled(made, _sizes(self, dim), normalization, self.dtype)


def _fft_r2c(self: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    """The last of `dim` is the one that is halved."""
    dtype = taeda.complex128 if self.dtype is taeda.float64 else taeda.complex64
    if self.is_meta or self.numel() == 0:
        shape = list(self.shape)
        if onesided:
            shape[dim[-1]] = shape[dim[-1]] // 2 + 1
        return taeda.zeros(shape, dtype=dtype, device=self.device)
    transform = np.fft.rfftn if onesided else np.fft.fftn
    made = transform(self.numpy(), axes=tuple(dim), norm="backward")
    return _scaled(made, _sizes(self, dim), normalization, dtype)


def _fft_c2r(self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    """The last of `dim` is completed by symmetry to `last_dim_size` points."""
    dtype = taeda.float64 if self.dtype is taeda.complex128 else taeda.float32
    shape = [self.size(d) for d in dim[:-1]] + [last_dim_size]
    if self.is_meta or self.numel() == 0:
        full = list(self.shape)
        full[dim[-1]] = last_dim_size
        return taeda.zeros(full, dtype=dtype, device=self.device)
    made = np.fft.irfftn(self.numpy(), s=shape, axes=tuple(dim), norm="forward")
    return _scaled(made, math.prod(shape), normalization, dtype)
