"""From the least and the greatest number to a scale and a zero point, to the last bit as PyTorch does it."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._words import is_float_qparams, is_symmetric

__all__ = ["NoRange", "checked", "parameters"]


class NoRange(RuntimeError):
    """Numbers that have no range, and so no scale; `convert` says of which layer."""


def checked(least: Tensor, most: Tensor, name: str) -> bool:
    """Whether there is a range. NoRange for one with NaN or infinity, AssertionError for one upside down."""
    if not least.numel() or not most.numel():
        return False
    if bool(((least == float("inf")) & (most == float("-inf"))).any()):
        return False
    if bool((least.isnan() | most.isnan()).any()):
        raise NoRange(
            f"{name}: the numbers that it saw had NaN among them, so they have no range: "
            "reset_min_max_vals() and show it finite numbers"
        )
    if bool((least.isinf() | most.isinf()).any()):
        raise NoRange(
            f"{name}: the numbers that it saw had infinity among them, whose scale would be infinite: "
            "reset_min_max_vals() and show it finite numbers"
        )
    if bool((least > most).any()):
        raise AssertionError(
            f"{name}: the least number is above the greatest one: {least} and {most}"
        )
    return True


def parameters(
    least: Tensor,
    most: Tensor,
    low: int,
    high: int,
    scheme: Any,
    dtype: Any,
    eps: Tensor,
    custom: bool,
) -> tuple[Tensor, Tensor]:
    """(scales, zero points) of ranges that are made to hold 0. `custom`: the integers are not all that the
    dtype holds. NoRange for one that is wider than float32 holds.
    """
    least, most = (end.reshape(1) if end.dim() == 0 else end for end in (least, most))
    zeros = taeda.zeros_like(least)
    below, above = taeda.minimum(least, zeros), taeda.maximum(most, zeros)
    points = taeda.zeros(below.shape, dtype=taeda.int64, device=below.device)
    eps = eps.to(below.device)
    if is_symmetric(scheme):
        reach = taeda.maximum(-below, above)
        scale = taeda.maximum(reach / (float(high - low) / 2), eps)
        if dtype in (taeda.quint8, taeda.uint8):
            points.fill_((low + high) // 2 if custom else 128)
        elif dtype is taeda.uint16:
            points.fill_(2**15)
        return scale, points
    if is_float_qparams(scheme):
        scale = (most - least) / float(high - low)
        scale = taeda.where(scale > eps, scale, taeda.ones_like(scale))
        return scale, -1 * least / scale
    scale = taeda.maximum((above - below) / float(high - low), eps)
    if bool(scale.isinf().any()):
        raise NoRange(
            f"a range from {below.min().item():g} to {above.max().item():g} is wider than float32 holds"
        )
    points = (low - (below / scale).round()).to(taeda.int32)
    return scale, points.clamp(low, high)
