"""Fourier transforms: dimensions are counted behind the samples."""

from __future__ import annotations

from typing import Any

from ._batched import Level, rank
from ._registry import Decline, rule
from .reduction import own_dims

__all__: list[str] = []


@rule(*(f"fft.{name}" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")))
def _one(level: Level, func: Any, x: Any, n: Any = None, dim: int = -1, norm: Any = None) -> Any:
    if rank(x) == 0:
        raise Decline
    return func(level.value(x), n, own_dims(dim, rank(x)), norm)


@rule(*(f"fft.{name}2" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")))
def _two(
    level: Level, func: Any, x: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None
) -> Any:
    if rank(x) < 2:
        raise Decline
    return func(level.value(x), s, own_dims(tuple(dim), rank(x)), norm)


@rule(*(f"fft.{name}n" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")))
def _several(
    level: Level, func: Any, x: Any, s: Any = None, dim: Any = None, norm: Any = None
) -> Any:
    own = rank(x)
    if own == 0:
        raise Decline
    if dim is None:
        dim = tuple(range(own)) if s is None else tuple(range(own - len(s), own))
    chosen = (dim,) if isinstance(dim, int) else tuple(dim)
    return func(level.value(x), s, own_dims(chosen, own), norm)


@rule("fft.fftshift", "fft.ifftshift")
def _shift(level: Level, func: Any, x: Any, dim: Any = None) -> Any:
    own = rank(x)
    if own == 0:
        raise Decline
    chosen = tuple(range(own)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    return func(level.value(x), own_dims(chosen, own))
