"""Fourier transforms of the standard's extension `fft`: those of `taeda.fft`, with axes in its words."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._common import named

_LINES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_GRIDS = ("fftn", "ifftn", "rfftn", "irfftn")
_SHIFTS = ("fftshift", "ifftshift")
_PLACES = ("fftfreq", "rfftfreq")

__all__ = [*_LINES, *_GRIDS, *_SHIFTS, *_PLACES]  # noqa: PLE0604 - names from the tables above


def _line(name: str) -> Any:
    function = getattr(taeda.fft, name)

    def call(
        x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
    ) -> Tensor:
        return function(x, n, axis, norm)

    return named(name, call, f"`taeda.fft.{name}` along an axis.", __name__)


def _grid(name: str) -> Any:
    function = getattr(taeda.fft, name)

    def call(x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
        return function(x, s, axes, norm)

    return named(name, call, f"`taeda.fft.{name}` along axes.", __name__)


def _shift(name: str) -> Any:
    function = getattr(taeda.fft, name)

    def call(x: Tensor, /, *, axes: Any = None) -> Tensor:
        return function(x, axes)

    return named(name, call, f"`taeda.fft.{name}` along axes, all of them if None.", __name__)


def _places(name: str) -> Any:
    function = getattr(taeda.fft, name)

    def call(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
        return function(n, d, dtype=dtype, device=device)

    return named(name, call, f"`taeda.fft.{name}`.", __name__)


globals().update({name: _line(name) for name in _LINES})
globals().update({name: _grid(name) for name in _GRIDS})
globals().update({name: _shift(name) for name in _SHIFTS})
globals().update({name: _places(name) for name in _PLACES})
