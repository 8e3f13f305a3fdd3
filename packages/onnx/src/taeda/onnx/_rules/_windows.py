"""Windows that slide over images, and other orders of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda

from .._context import Context, Value
from ._images import _each, _resized, pooled
from ._registry import rule


def _range(ctx: Context, end: Any) -> Value:
    ends = (ctx.number(0, taeda.int64), ctx.tensor(end, taeda.int64), ctx.number(1, taeda.int64))
    return ctx.op("Range", *ends, rank=1)


def _count(ctx: Context, size: Any, window: int, step: int) -> Any:
    """How many windows there are."""
    if isinstance(size, int):
        return (size - window) // step + 1
    less = ctx.op("Sub", size, ctx.number(window - step, taeda.int64))
    return ctx.op("Div", less, ctx.number(step, taeda.int64))


def _places(ctx: Context, size: Any, length: int, spread: int, step: int) -> tuple[Value, Any]:
    """Places of (element, window), and the number of windows."""
    count = _count(ctx, size, (length - 1) * spread + 1, step)
    starts = ctx.op("Mul", _range(ctx, count), ctx.number(step, taeda.int64))
    inside = ctx.weight(taeda.arange(length).mul(spread).view(-1, 1))
    return ctx.op("Add", inside, starts, rank=2), count


@rule("unfold", fresh=True)
def _unfold(ctx: Context, x: Value, dimension: int, size: int, step: int) -> Value:
    axis = dimension % x.rank
    places, _ = _places(ctx, ctx.size(x, axis), size, 1, step)
    made = ctx.op("Gather", x, places, axis=axis, rank=x.rank + 1)  # size, then windows
    order = [*range(axis), *range(axis + 1, x.rank + 1), axis]
    return ctx.op("Transpose", made, perm=order)


@rule("im2col", fresh=True)
def _im2col(
    ctx: Context, x: Value, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Value:
    alone, channels = x.rank == 3, x.sizes[-3]
    if channels is None:
        raise ctx.refuse("windows of channels whose number differs from call to call")
    if alone:
        x = ctx.op("Unsqueeze", x, ctx.integers([0]), rank=4)
    kernel, spread, pads, steps = (_each(v, 2) for v in (kernel_size, dilation, padding, stride))
    if any(pads):
        x = ctx.op("Pad", x, ctx.integers([0, 0, *pads, 0, 0, *pads]))
    rows, high = _places(ctx, ctx.size(x, 2), kernel[0], spread[0], steps[0])
    columns, wide = _places(ctx, ctx.size(x, 3), kernel[1], spread[1], steps[1])
    made = ctx.op("Gather", x, rows, axis=2, rank=5)
    made = ctx.op("Gather", made, columns, axis=4, rank=6)
    made = ctx.op("Transpose", made, perm=[0, 1, 2, 4, 3, 5])
    batch = [] if alone else [ctx.size(x, 0)]
    if isinstance(high, int) and isinstance(wide, int):
        count: Any = high * wide
    else:
        count = ctx.op("Mul", *(ctx.tensor(n, taeda.int64) for n in (high, wide)))
    return ctx.reshape(made, [*batch, channels * kernel[0] * kernel[1], count])


@rule("col2im", fresh=True)
def _col2im(
    ctx: Context,
    x: Value,
    output_size: Any,
    kernel_size: Any,
    dilation: Any,
    padding: Any,
    stride: Any,
) -> Value:
    if ctx.opset < 18:
        raise ctx.refuse("Col2Im is there from opset 18 on")
    pads = _each(padding, 2)
    how: dict[str, Any] = {
        "dilations": _each(dilation, 2), "pads": [*pads, *pads], "strides": _each(stride, 2)
    }  # fmt: skip
    sizes = ctx.integers(list(output_size)), ctx.integers(_each(kernel_size, 2))
    one = ctx.integers([0])
    whole = x if x.rank == 3 else ctx.op("Unsqueeze", x, one, rank=3)
    made = ctx.op("Col2Im", whole, *sizes, rank=4, **how)
    return made if x.rank == 3 else ctx.op("Squeeze", made, one, rank=3)


@rule("pixel_unshuffle", fresh=True)
def _pixel_unshuffle(ctx: Context, x: Value, downscale_factor: int) -> Value:
    factor, lead = downscale_factor, x.rank - 3
    channels, high, wide = ctx.sizes()[lead:]
    if channels is None or high is None or wide is None:
        raise ctx.refuse("an image whose sizes differ from call to call")
    before = [ctx.size(x, d) for d in range(lead)]
    apart = [*before, channels // factor**2, high, factor, wide, factor]
    order = [*range(lead), *(lead + d for d in (0, 2, 4, 1, 3))]
    made = ctx.op("Transpose", ctx.reshape(x, apart), perm=order)
    return ctx.reshape(made, [*before, channels, high, wide])


# ---- windows of any size ----


def averaged(ctx: Context, kind: str, x: Value, sizes: Sequence[int]) -> Value:
    """Means (or extremes) of windows, one dimension after the other: all windows are boxes."""
    for k, count in enumerate(sizes):
        axis = x.rank - len(sizes) + k
        size = x.sizes[axis]
        if size is None:
            raise ctx.refuse("windows of a size that differs from call to call")
        parts = [
            _box(ctx, kind, x, axis, j * size // count, -(-(j + 1) * size // count))
            for j in range(count)
        ]
        rest = [n if d != axis else count for d, n in enumerate(x.sizes)]
        made = ctx.op("Concat", *parts, axis=axis, rank=x.rank)
        x = Value(made.name, x.dtype, tuple(rest))
    return x


def _box(ctx: Context, kind: str, x: Value, axis: int, start: int, end: int) -> Value:
    places = (ctx.integers([n]) for n in (start, end, axis))
    part = ctx.op("Slice", x, *places)
    if ctx.opset < 18:
        return ctx.op(kind, part, axes=[axis], keepdims=1)
    return ctx.op(kind, part, ctx.integers([axis]), keepdims=1)


def _adaptive_max(count: int) -> None:
    @rule(f"adaptive_max_pool{count}d", fresh=True)
    def apply(ctx: Context, x: Value, output_size: Any) -> list[Value | None]:
        return [averaged(ctx, "ReduceMax", x, _each(output_size, count)), None]

    @rule(f"max_pool{count}d_with_indices", fresh=True)
    def indices(
        ctx: Context,
        x: Value,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> list[Value]:
        pads, kernel = _each(padding, count), _each(kernel_size, count)
        made, places = pooled(
            ctx,
            "MaxPool",
            x,
            count,
            2,
            kernel_shape=kernel,
            strides=_each(stride, count) if stride else kernel,
            pads=[*pads, *pads],
            dilations=_each(dilation, count),
            ceil_mode=int(ceil_mode),
        )
        whole: Any = ctx.number(1, taeda.int64)
        for d in range(x.rank - count, x.rank):
            whole = ctx.op("Mul", whole, ctx.tensor(ctx.size(x, d), taeda.int64))
        flat = Value(places.name, taeda.int64, places.sizes)
        return [made, ctx.op("Mod", flat, whole)]  # ONNX counts through batch and channels

    @rule(f"_upsample_nearest_exact{count}d", fresh=True)
    def exact(ctx: Context, x: Value, output_size: Any, *scales: Any, **_: Any) -> Value:
        how = {"coordinate_transformation_mode": "half_pixel"}
        return _resized(ctx, x, output_size, "nearest", nearest_mode="round_prefer_ceil", **how)


for _dims in (1, 2, 3):
    _adaptive_max(_dims)


@rule("upsample_bicubic2d", fresh=True)
def _bicubic(
    ctx: Context, x: Value, output_size: Any, align_corners: bool, *scales: Any, **_: Any
) -> Value:
    way = "align_corners" if align_corners else "half_pixel"
    how: dict[str, Any] = {"coordinate_transformation_mode": way, "cubic_coeff_a": -0.75}
    return _resized(ctx, x, output_size, "cubic", **how)


def _antialiased(row: str) -> None:
    """Weighted sums along each dimension, by the weights of the row itself: runtimes differ here."""

    @rule(row, fresh=True)
    def apply(ctx: Context, x: Value, output_size: Any, *rest: Any, **options: Any) -> Value:
        assert ctx.node is not None
        function: Any = ctx.node.target
        sizes = [n for n in x.sizes[-2:] if n is not None]
        if len(sizes) < 2 or not all(isinstance(n, int) for n in output_size):
            raise ctx.refuse("antialias of sizes that differ from call to call")
        made = x
        for k, (size, wanted) in enumerate(zip(sizes, output_size, strict=True)):
            one: Any = taeda.eye(size, dtype=x.dtype).view(1, size, 1, size)
            weights = function(one, [1, wanted], *rest, **options).view(size, wanted)
            matrix = ctx.weight(weights if k else weights.t().contiguous())
            made = ctx.op("MatMul", *((made, matrix) if k else (matrix, made)), rank=x.rank)
        return made


for _kind in ("bilinear", "bicubic", "lanczos"):
    _antialiased(f"_upsample_{_kind}2d_aa")
