"""Fourier transforms by CuPy's cuFFT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["ROWS"]

#: what the row does (0 nothing, 1 divide by the root of the count, 2 divide by it) in CuPy's words
FORWARD = ("backward", "ortho", "forward")
INVERSE = ("forward", "ortho", "backward")


def _c2c(
    cupy: Any, out: list[Any], x: Any, dim: Sequence[int], normalization: int, forward: bool
) -> None:
    transform = cupy.fft.fftn if forward else cupy.fft.ifftn
    names = FORWARD if forward else INVERSE
    out[0][...] = transform(x, axes=tuple(dim), norm=names[normalization])


def _r2c(
    cupy: Any, out: list[Any], x: Any, dim: Sequence[int], normalization: int, onesided: bool
) -> None:
    transform = cupy.fft.rfftn if onesided else cupy.fft.fftn
    out[0][...] = transform(x, axes=tuple(dim), norm=FORWARD[normalization])


def _c2r(
    cupy: Any, out: list[Any], x: Any, dim: Sequence[int], normalization: int, last: int
) -> None:
    sizes = (*(x.shape[d] for d in dim[:-1]), last)
    out[0][...] = cupy.fft.irfftn(x, s=sizes, axes=tuple(dim), norm=INVERSE[normalization])


ROWS = {"_fft_c2c": _c2c, "_fft_r2c": _r2c, "_fft_c2r": _c2r}
