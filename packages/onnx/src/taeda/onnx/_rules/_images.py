"""Convolutions, pools, other resolutions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import taeda

from .._context import Context, Value
from ._registry import rule


def _each(value: Any, count: int) -> list[int]:
    """A number for each spatial dimension; one stands for all."""
    given = [value] if isinstance(value, int) else list(value)
    return given * count if len(given) == 1 else given


@rule("conv1d", "conv2d", "conv3d", fresh=True)
def _conv(
    ctx: Context,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Value:
    count = weight.rank - 2
    pads = _each(padding, count)
    how: dict[str, Any] = {
        "strides": _each(stride, count),
        "pads": [*pads, *pads],
        "dilations": _each(dilation, count),
        "group": groups,
    }
    return in_batch(ctx, x, count, lambda x: [ctx.op("Conv", x, weight, bias, **how)])[0]


@rule("convolution", fresh=True)
def _convolution(
    ctx: Context,
    x: Value,
    weight: Value,
    bias: Value | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Value:
    if not transposed:
        return _conv(ctx, x, weight, bias, stride, padding, dilation, groups)
    count = weight.rank - 2
    pads = _each(padding, count)
    how: dict[str, Any] = {
        "strides": _each(stride, count),
        "pads": [*pads, *pads],
        "dilations": _each(dilation, count),
        "output_padding": _each(output_padding, count),
        "group": groups,
    }
    return in_batch(ctx, x, count, lambda x: [ctx.op("ConvTranspose", x, weight, bias, **how)])[0]


def in_batch(
    ctx: Context, x: Value, count: int, made_of: Callable[[Value], list[Value]]
) -> list[Value]:
    """What a function makes of an image of `count` dimensions, which operators want in a batch."""
    if x.rank == count + 2:
        return made_of(x)
    parts = made_of(ctx.op("Unsqueeze", x, ctx.integers([0]), rank=count + 2))
    return [ctx.op("Squeeze", part, ctx.integers([0]), rank=count + 1) for part in parts]


def pooled(
    ctx: Context, kind: str, x: Value, count: int, results: int = 1, **how: Any
) -> list[Value]:
    """A pool. Operators take no integers but bytes; wider ones are exact as float64."""
    given = x
    if not x.dtype.is_floating_point:
        if kind != "MaxPool" or x.dtype == taeda.int64:
            raise ctx.refuse(f"a pool of {x.dtype}, which ONNX does not have: pool floats")
        x = ctx.cast(x, taeda.float64)
    made = in_batch(ctx, x, count, lambda x: ctx.ops(kind, results, x, **how))
    return [ctx.cast(made[0], given.dtype), *made[1:]]


def _max_pools(count: int) -> None:
    @rule(f"max_pool{count}d", fresh=True)
    def apply(
        ctx: Context,
        x: Value,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Value:
        pads = _each(padding, count)
        kernel = _each(kernel_size, count)
        return pooled(
            ctx,
            "MaxPool",
            x,
            count,
            kernel_shape=kernel,
            strides=_each(stride, count) if stride else kernel,
            pads=[*pads, *pads],
            dilations=_each(dilation, count),
            ceil_mode=int(ceil_mode),
        )[0]

    @rule(f"avg_pool{count}d", fresh=True)
    def average(
        ctx: Context,
        x: Value,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Value:
        if ceil_mode:
            raise ctx.refuse("an average of windows that are cut at the edge: pad the image")
        pads = _each(padding, count)
        kernel = _each(kernel_size, count)
        whole = count_include_pad or divisor_override is not None
        made = pooled(
            ctx,
            "AveragePool",
            x,
            count,
            kernel_shape=kernel,
            strides=_each(stride, count) if stride else kernel,
            pads=[*pads, *pads],
            count_include_pad=int(whole),
        )[0]
        if divisor_override is None:
            return made
        return ctx.op("Mul", made, ctx.number(math.prod(kernel) / divisor_override, x.dtype))

    @rule(f"adaptive_avg_pool{count}d", fresh=True)
    def adaptive(ctx: Context, x: Value, output_size: Any) -> Value:
        sizes = _each(output_size, count)
        if all(n == 1 for n in sizes):
            return pooled(ctx, "GlobalAveragePool", x, count)[0]
        known = x.sizes[-count:]
        steps = [None if k is None or k % n else k // n for k, n in zip(known, sizes, strict=True)]
        kernel = [s for s in steps if s is not None]
        if len(kernel) != count:
            from ._windows import averaged  # late: windows of any size are made of what is here

            return averaged(ctx, "ReduceMean", x, sizes)
        return pooled(ctx, "AveragePool", x, count, kernel_shape=kernel, strides=kernel)[0]


for _count in (1, 2, 3):
    _max_pools(_count)


def _resized(ctx: Context, x: Value, size: Any, mode: str, **how: Any) -> Value:
    sizes = [ctx.size(x, 0), ctx.size(x, 1), *size]
    return ctx.op("Resize", x, None, None, ctx.integers(sizes), mode=mode, **how)


def _nearest(count: int) -> None:
    @rule(f"upsample_nearest{count}d", fresh=True)
    def apply(ctx: Context, x: Value, output_size: Any, *scales: Any, **_: Any) -> Value:
        how = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        return _resized(ctx, x, output_size, "nearest", **how)


def _linear(row: str) -> None:
    @rule(row, fresh=True)
    def apply(
        ctx: Context, x: Value, output_size: Any, align_corners: bool, *scales: Any, **_: Any
    ) -> Value:
        how = "align_corners" if align_corners else "half_pixel"
        return _resized(ctx, x, output_size, "linear", coordinate_transformation_mode=how)


for _count in (1, 2, 3):
    _nearest(_count)
for _row in ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"):
    _linear(_row)


@rule("pixel_shuffle", fresh=True)
def _pixel_shuffle(ctx: Context, x: Value, upscale_factor: int) -> Value:
    if x.rank not in (3, 4):
        raise ctx.refuse(f"pixels of a tensor of rank {x.rank}: 3 and 4 are translated")
    how: dict[str, Any] = {"blocksize": upscale_factor, "mode": "CRD"}
    return in_batch(ctx, x, 2, lambda x: [ctx.op("DepthToSpace", x, **how)])[0]
