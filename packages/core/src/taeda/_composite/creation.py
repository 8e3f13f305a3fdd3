"""Factories that are written in terms of other operators."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor


def _end(name: str, which: str, value: object) -> Any:
    """The number in a 0-dim tensor; other numbers as they are."""
    if not isinstance(value, Tensor):
        return value
    if value.dim() != 0:
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got {which} with "
            f"{value.dim()} dimension(s)"
        )
    return value.item()


def _options(dtype: object, layout: object, device: object, pin_memory: object) -> dict[str, Any]:
    return {"dtype": dtype, "layout": layout, "device": device, "pin_memory": pin_memory}


def linspace_Tensor_Tensor(  # noqa: N802 - the overload's name
    start: object,
    end: object,
    steps: int,
    dtype: object,
    layout: object,
    device: object,
    pin_memory: object,
) -> Tensor:
    """`steps` numbers from start to end, one or both of them 0-dim tensors."""
    first, last = _end("linspace", "start", start), _end("linspace", "end", end)
    return taeda.linspace(first, last, steps, **_options(dtype, layout, device, pin_memory))


def logspace_Tensor_Tensor(  # noqa: N802 - the overload's name
    start: object,
    end: object,
    steps: int,
    base: float,
    dtype: object,
    layout: object,
    device: object,
    pin_memory: object,
) -> Tensor:
    """Powers of `base` with exponents from start to end, one or both of them 0-dim tensors."""
    first, last = _end("logspace", "start", start), _end("logspace", "end", end)
    return taeda.logspace(first, last, steps, base, **_options(dtype, layout, device, pin_memory))


linspace_Tensor_Scalar = linspace_Scalar_Tensor = linspace_Tensor_Tensor  # noqa: N816
logspace_Tensor_Scalar = logspace_Scalar_Tensor = logspace_Tensor_Tensor  # noqa: N816


def diag(self: Tensor, diagonal: int) -> Tensor:
    """A vector becomes a matrix, a matrix gives its diagonal (a copy)."""
    if self.dim() == 1:
        return self.diag_embed(diagonal)
    if self.dim() == 2:
        return self.diagonal(diagonal).clone()
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.dim()}D")


def diagflat(self: Tensor, offset: int) -> Tensor:
    """All elements, in row-major order, on a diagonal of a square matrix."""
    return self.reshape(-1).diag_embed(offset)


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """abs * (cos(angle) + i sin(angle))."""
    return taeda.complex(abs * angle.cos(), abs * angle.sin())
