"""Pooling and resampling of quantized tensors: on the integers, averages rounded half to even."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .._affine import LIMITS
from .._parts import Quantized, parts_of
from ._registry import call, one_scale, rule, same_scale, wrapped

MAXIMA = "max_pool1d max_pool2d max_pool3d upsample_nearest1d upsample_nearest2d upsample_nearest3d".split()
#: averages of numbers less the zero point
AVERAGES = (
    "avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
    "upsample_bilinear2d upsample_linear1d upsample_trilinear3d"
).split()


def _maximum(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        return same_scale(row, x, *args)


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
        return wrapped(averaged(row, parts, *args), parts)


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
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """`max_pool1d` of a quantized tensor (samples, channels, length). The arguments are those of
    `nn.functional.max_pool1d`. NotImplementedError for a plain tensor.

    >>> import taeda
    >>> x = taeda.quantize_per_tensor(taeda.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 0.5, 0, taeda.quint8)
    >>> taeda.quantized_max_pool1d(x, 2).dequantize().tolist()
    [[[3.0, 2.0]]]
    """
    return _pooled("max_pool1d", input, kernel_size, stride, padding, dilation, ceil_mode)


def quantized_max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """`max_pool2d` of a quantized tensor (samples, channels, height, width). The arguments are those of
    `nn.functional.max_pool2d`. NotImplementedError for a plain tensor.

    >>> import taeda
    >>> x = taeda.quantize_per_tensor(taeda.eye(4)[None, None], 0.5, 0, taeda.quint8)
    >>> taeda.quantized_max_pool2d(x, 2).dequantize().tolist()
    [[[[1.0, 0.0], [0.0, 1.0]]]]
    """
    return _pooled("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode)


def quantized_max_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """`max_pool3d` of a quantized tensor (samples, channels, depth, height, width). The arguments are those
    of `nn.functional.max_pool3d`. NotImplementedError for a plain tensor.
    """
    return _pooled("max_pool3d", input, kernel_size, stride, padding, dilation, ceil_mode)
