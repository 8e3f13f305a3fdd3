"""Resampling of quantized tensors: integers as they are, or interpolated, and rounded with the zero point."""

from __future__ import annotations

from typing import Any, NamedTuple

import taeda
from taeda import Tensor

from ._registry import call, one_scale, rule, same_scale, wrapped
from .pooling import rounded

NEAREST = (
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d "
    "_upsample_nearest_exact2d _upsample_nearest_exact3d"
).split()
LINEAR = "upsample_linear1d upsample_trilinear3d".split()


def _nearest(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        return same_scale(row, x, *args)


def _linear(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        parts = one_scale(x, row)
        between = call(row, parts.integers.float(), *args)
        return wrapped(rounded(between - float(parts.zero_point), parts), parts)


class Between(NamedTuple):
    """Of each output along an axis the two places that it lies between, and the weights of them."""

    first: Tensor
    second: Tensor
    near: Tensor
    far: Tensor


def _between(size: int, out: int, align: bool, scale: float | None, device: Any) -> Between:
    ratio = _ratio(size, out, align, scale)
    at = taeda.arange(out, dtype=taeda.float32, device=device)
    at = at * ratio if align else ((at + 0.5) * ratio - 0.5).clamp(min=0.0)
    first = at.to(taeda.int64).clamp(max=size - 1)
    far = at - first.float()
    return Between(first, (first + 1).clamp(max=size - 1), 1.0 - far, far)


def _ratio(size: int, out: int, align: bool, scale: float | None) -> float:
    """Places of the input for each of the output."""
    if align:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / scale if scale else size / out


@rule("upsample_bilinear2d")
def bilinear(
    x: Tensor,
    output_size: Any,
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Any:
    """Products and sums in float32 in the order of PyTorch's kernel: along a line, then between two."""
    parts = one_scale(x, "upsample_bilinear2d")
    how = (output_size, align_corners, scales_h, scales_w)
    # refuses what does not fit
    call("upsample_bilinear2d", taeda.empty(x.shape, device="meta"), *how)
    q, (high, wide) = parts.integers, x.shape[-2:]
    line = _between(high, output_size[0], align_corners, scales_h, q.device)
    place = _between(wide, output_size[1], align_corners, scales_w, q.device)

    def along(places: Tensor) -> Tensor:
        row = q.index_select(-2, places)
        left, right = (row.index_select(-1, at).float() for at in place[:2])
        return place.near * left + place.far * right

    upper, lower = along(line.first), along(line.second)
    made = line.near.unsqueeze(-1) * upper + line.far.unsqueeze(-1) * lower
    return wrapped(rounded(made - float(parts.zero_point), parts), parts)


for _row in NEAREST:
    _nearest(_row)
for _row in LINEAR:
    _linear(_row)
