"""Pooling and resampling of quantized tensors: on the integers, averages rounded half to even.

Integers of 8 bits that lie channels last, as layers on integers give them, are pooled in one pass; averages
are summed in int32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from .._affine import LIMITS
from .._parts import Quantized, parts_of
from ._registry import call, one_scale, rule, same_scale, wrapped
from ._spans import MOST, adaptive, places, strided

MAXIMA = "max_pool1d max_pool2d max_pool3d upsample_nearest1d upsample_nearest2d upsample_nearest3d".split()
#: averages of numbers less the zero point
AVERAGES = (
    "avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
    "upsample_bilinear2d upsample_linear1d upsample_trilinear3d"
).split()


def _channels_last(x: Quantized, rank: int, as_it_lies: bool) -> Tensor | None:
    """Integers of 8 bits as (samples, three places, channels); with `as_it_lies` if nothing is copied."""
    q = x.integers
    if q.dim() != rank + 2 or x.dtype not in (taeda.quint8, taeda.qint8) or not q.numel():
        return None
    last = q.movedim(1, -1)
    if as_it_lies and not last.is_contiguous():
        return None
    return last.reshape(last.shape[0], *[1] * (3 - rank), *last.shape[1:])


def _pooled_last(row: str, x: Quantized, args: Sequence[Any]) -> Tensor | None:
    """One pass over integers that lie channels last; averages are worth bringing them there. None where that
    is not possible.

    The row itself says on meta which sizes come, and refuses what does not fit.
    """
    rank, largest = int(row[-2]), "max" in row
    last = _channels_last(x, rank, largest)
    if last is None:
        return None
    size = call(row, taeda.empty(x.integers.shape, device="meta"), *args).shape[2:]
    found = (adaptive if "adaptive" in row else strided)(row, x.integers.shape[2:], size, args)
    if found is None or places(found.axes) > MOST:
        return None
    none: list[tuple[int, ...]] = [(0, 1, 1)] * (3 - rank)
    planes, lines, columns = none + [axis.numbers for axis in found.axes]
    made = taeda._int8_pool(last, x.zero_point, planes, lines, columns, largest, found.divisor)
    made = made.reshape(made.shape[0], *size, made.shape[-1]).movedim(-1, 1)
    return made.contiguous() if x.integers.is_contiguous() else made


def _maximum(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        parts = one_scale(x, row)
        made = _pooled_last(row, parts, args) if "pool" in row else None
        return same_scale(row, x, *args) if made is None else wrapped(made, parts)


def averaged(row: str, parts: Quantized, *args: Any) -> Tensor:
    """The row on integers less the zero point, in float32, rounded."""
    centred = (parts.integers.to(taeda.int64) - parts.zero_point).float()
    low, high = LIMITS[parts.dtype]
    rounded = call(row, centred, *args).round() + float(parts.zero_point)
    return rounded.double().clamp(low, high).to(parts.integers.dtype)


def _average(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        parts = one_scale(x, row)
        made = _pooled_last(row, parts, args) if "pool" in row else None
        return wrapped(averaged(row, parts, *args) if made is None else made, parts)


def _mean(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        parts = one_scale(x, row.partition(".")[0])
        if args and args[-1] not in (None, parts.dtype):
            return NotImplemented
        return wrapped(parts.integers_of(call(row, parts.floats(), *args[:-1], None)), parts)


def _deviation(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        parts = one_scale(x, "std")
        return wrapped(parts.integers_of(call(row, parts.floats(), *args)), parts)


for _row in MAXIMA:
    _maximum(_row)
for _row in AVERAGES:
    _average(_row)
for _row in ("mean", "mean.dim"):
    _mean(_row)
for _row in ("std", "std.dim", "std.correction"):
    _deviation(_row)


# ---- by their own names ----


def _pooled(row: str, input: Tensor, *how: Any) -> Tensor:
    parts_of(input, f"quantized_{row}")  # refuses a plain tensor
    made: Tensor = getattr(taeda, row)(input, *how)
    return made


def quantized_max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """`max_pool1d` of a quantized tensor (samples, channels, length). The arguments are those of
    `nn.functional.max_pool1d`. NotImplementedError for a plain tensor.

    >>> import taeda
    >>> x = taeda.quantize_per_tensor(taeda.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 0.5, 0, taeda.quint8)
    >>> taeda.quantized_max_pool1d(x, 2).dequantize().tolist()
    [[[3.0, 2.0]]]
    """
    return _pooled("max_pool1d", input, kernel_size, stride, padding, dilation, ceil_mode)


def quantized_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """`max_pool2d` of a quantized tensor (samples, channels, height, width). The arguments are those of
    `nn.functional.max_pool2d`. NotImplementedError for a plain tensor.

    >>> import taeda
    >>> x = taeda.quantize_per_tensor(taeda.eye(4)[None, None], 0.5, 0, taeda.quint8)
    >>> taeda.quantized_max_pool2d(x, 2).dequantize().tolist()
    [[[[1.0, 0.0], [0.0, 1.0]]]]
    """
    return _pooled("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode)


def quantized_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """`max_pool3d` of a quantized tensor (samples, channels, depth, height, width). The arguments are those
    of `nn.functional.max_pool3d`. NotImplementedError for a plain tensor.

    >>> import taeda
    >>> x = taeda.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> x = taeda.quantize_per_tensor(x, 0.5, 0, taeda.quint8)
    >>> taeda.quantized_max_pool3d(x, 2).dequantize().tolist()
    [[[[[7.0]]]]]
    """
    return _pooled("max_pool3d", input, kernel_size, stride, padding, dilation, ceil_mode)
