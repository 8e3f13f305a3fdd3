"""Windows by length and period, over those of taeda.signal.windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def _made(
    name: str, length: int, periodic: bool, dtype: Any, device: Any, window: Callable[..., Tensor]
) -> Tensor:
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    dtype = taeda.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    wide = taeda.float64 if dtype is taeda.float64 else taeda.float32
    return window(length, sym=not periodic, dtype=wide, device=device).to(dtype)


def bartlett_window(
    window_length: int, periodic: bool, dtype: Any, layout: Any, device: Any, pin_memory: Any
) -> Tensor:
    """1 - |x| for x from -1 to 1."""
    make = taeda.signal.windows.bartlett
    return _made("bartlett_window", window_length, periodic, dtype, device, make)


def blackman_window(
    window_length: int, periodic: bool, dtype: Any, layout: Any, device: Any, pin_memory: Any
) -> Tensor:
    """0.42 - 0.5 cos x + 0.08 cos 2x."""
    make = taeda.signal.windows.blackman
    return _made("blackman_window", window_length, periodic, dtype, device, make)


def hann_window(
    window_length: int, periodic: bool, dtype: Any, layout: Any, device: Any, pin_memory: Any
) -> Tensor:
    """(1 - cos x) / 2."""
    make = taeda.signal.windows.hann
    return _made("hann_window", window_length, periodic, dtype, device, make)


def hamming_window(
    window_length: int,
    periodic: bool,
    alpha: float,
    beta: float,
    dtype: Any,
    layout: Any,
    device: Any,
    pin_memory: Any,
) -> Tensor:
    """alpha - beta cos x."""

    def make(length: int, **options: Any) -> Tensor:
        return taeda.signal.windows.general_cosine(length, a=[alpha, beta], **options)

    return _made("hamming_window", window_length, periodic, dtype, device, make)


def kaiser_window(
    window_length: int,
    periodic: bool,
    beta: float,
    dtype: Any,
    layout: Any,
    device: Any,
    pin_memory: Any,
) -> Tensor:
    """i0(beta sqrt(1 - x^2)) / i0(beta) for x from -1 to 1."""

    def make(length: int, **options: Any) -> Tensor:
        return taeda.signal.windows.kaiser(length, beta=beta, **options)

    return _made("kaiser_window", window_length, periodic, dtype, device, make)
