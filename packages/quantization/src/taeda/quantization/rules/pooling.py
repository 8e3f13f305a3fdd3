"""Pooling of quantized tensors: on the integers, averages rounded half to even with the zero point.

Integers of 8 bits that lie channels last, as layers on integers give them, are pooled in one pass; averages
are summed in int32. An average is the sum times the float32 that is nearest to 1 / places, in every memory
format and for every number of channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import asks

from .._affine import LIMITS
from .._parts import Quantized, parts_of
from ._registry import call, one_scale, rule, same_scale, wrapped
from ._spans import MOST, Windows, adaptive, places, strided

MAXIMA = "max_pool1d max_pool2d max_pool3d".split()
#: averages of numbers less the zero point
AVERAGES = (
    "avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d"
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


def _windows(row: str, x: Quantized, args: Sequence[Any]) -> tuple[Sequence[int], Windows | None]:
    """(sizes that come out, where the windows lie).

    The row itself says on meta which sizes come, and refuses what does not fit.
    """
    rank, sizes = int(row[-2]), x.integers.shape
    out = call(row, taeda.empty(sizes, device="meta"), *args).shape[-rank:]
    return out, (adaptive if "adaptive" in row else strided)(row, sizes[-rank:], out, args)


def _pooled_last(row: str, x: Quantized, args: Sequence[Any]) -> Tensor | None:
    """One pass over integers that lie channels last; averages are worth bringing them there. None where that
    is not possible.
    """
    rank, largest = int(row[-2]), "max" in row
    last = _channels_last(x, rank, largest)
    if last is None:
        return None
    size, found = _windows(row, x, args)
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
        made = _pooled_last(row, parts, args)
        return same_scale(row, x, *args) if made is None else wrapped(made, parts)


def rounded(centred: Tensor, parts: Quantized) -> Tensor:
    """Integers of averages less the zero point, in float32: it is added before the one rounding."""
    low, high = LIMITS[parts.dtype]
    made = (centred + float(parts.zero_point)).round()
    return made.double().clamp(low, high).to(parts.integers.dtype)


def _averaged(row: str, parts: Quantized, args: Sequence[Any]) -> Tensor:
    """The average of any integers: exact sums, from averages in float64."""
    _, found = _windows(row, parts, args)
    means = call(row, (parts.integers.to(taeda.int64) - parts.zero_point).double(), *args)
    if found is None:
        return rounded(means.float(), parts)
    counts = _counts(found, means)
    return rounded((means * counts).round().float() * counts.float().reciprocal(), parts)


def _counts(found: Windows, like: Tensor) -> Tensor:
    """What each window is divided by, to be broadcast."""
    if found.divisor:
        return like.new_tensor(found.divisor)
    axes = [like.new_tensor(axis.numbers[2::3]) for axis in found.axes]
    counts = axes[0]
    for axis in axes[1:]:
        counts = counts.unsqueeze(-1) * axis
    return counts


def _average(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        parts = one_scale(x, row)
        made = _pooled_last(row, parts, args)
        return wrapped(_averaged(row, parts, args) if made is None else made, parts)


def _mean(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        parts = one_scale(x, row.partition(".")[0])
        if args and args[-1] not in (None, parts.dtype):
            return NotImplemented
        if not _are_last(parts.integers, args[0] if len(args) > 1 else None):
            return wrapped(parts.integers_of(call(row, parts.floats(), *args[:-1], None)), parts)
        steps = (parts.integers.to(taeda.int64) - parts.zero_point).double()
        return wrapped(rounded(call(row, steps, *args[:-1], None).float(), parts), parts)


def _are_last(integers: Tensor, dims: Any) -> bool:
    """Whether these dimensions are the last ones of integers that lie in order: their mean is that of
    integers, as PyTorch has it. Others are means of floats.
    """
    rank = integers.dim()
    if dims is None or dims == []:
        return integers.is_contiguous()
    given = sorted(dim % max(rank, 1) for dim in ([dims] if isinstance(dims, int) else dims))
    return integers.is_contiguous() and given == list(range(rank - len(given), rank))


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


@asks
def quantized_max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of every window of a quantized tensor, as `nn.functional.max_pool1d`.

    The result keeps the scale and the zero point. Its size, for each spatial dimension, is
    (size + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1, rounded down.
    NotImplementedError for a plain tensor.

    Args:
        input: a quantized tensor of shape (C, L) or (N, C, L).
        kernel_size: the size of the window, at least 1: an int, or a list of one.
        stride: the step of the window, at least 1: an int, or a list of one; `()` (the default) for
            kernel_size.
        padding: how many elements that never win stand at both ends, at most half of the window:
            an int, or a list of one (default: 0).
        dilation: the distance between neighbours in the window, at least 1: an int, or a list of one
            (default: 1).
        ceil_mode: whether output sizes are rounded up instead, so that a last window may stick out
            (default: False).

    >>> import taeda
    >>> x = taeda.quantize_per_tensor(taeda.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 0.5, 0, taeda.quint8)
    >>> taeda.quantized_max_pool1d(x, 2).dequantize().tolist()
    [[[3.0, 2.0]]]
    """
    return _pooled("max_pool1d", input, kernel_size, stride, padding, dilation, ceil_mode)


@asks
def quantized_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of every window of a quantized tensor, as `nn.functional.max_pool2d`.

    The result keeps the scale and the zero point. Its size, for each spatial dimension, is
    (size + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1, rounded down.
    NotImplementedError for a plain tensor.

    Args:
        input: a quantized tensor of shape (C, H, W) or (N, C, H, W).
        kernel_size: the size of the window, at least 1: an int, or 2 of them.
        stride: the step of the window, at least 1: an int, or 2 of them; `()` (the default) for kernel_size.
        padding: how many elements that never win stand at both ends, at most half of the window:
            an int, or 2 of them (default: 0).
        dilation: the distance between neighbours in the window, at least 1: an int, or 2 of them
            (default: 1).
        ceil_mode: whether output sizes are rounded up instead, so that a last window may stick out
            (default: False).

    >>> import taeda
    >>> x = taeda.quantize_per_tensor(taeda.eye(4)[None, None], 0.5, 0, taeda.quint8)
    >>> taeda.quantized_max_pool2d(x, 2).dequantize().tolist()
    [[[[1.0, 0.0], [0.0, 1.0]]]]
    """
    return _pooled("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode)


@asks
def quantized_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of every window of a quantized tensor, as `nn.functional.max_pool3d`.

    The result keeps the scale and the zero point. Its size, for each spatial dimension, is
    (size + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1, rounded down.
    NotImplementedError for a plain tensor.

    Args:
        input: a quantized tensor of shape (C, D, H, W) or (N, C, D, H, W).
        kernel_size: the size of the window, at least 1: an int, or 3 of them.
        stride: the step of the window, at least 1: an int, or 3 of them; `()` (the default) for kernel_size.
        padding: how many elements that never win stand at both ends, at most half of the window:
            an int, or 3 of them (default: 0).
        dilation: the distance between neighbours in the window, at least 1: an int, or 3 of them
            (default: 1).
        ceil_mode: whether output sizes are rounded up instead, so that a last window may stick out
            (default: False).

    >>> import taeda
    >>> x = taeda.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> x = taeda.quantize_per_tensor(x, 0.5, 0, taeda.quint8)
    >>> taeda.quantized_max_pool3d(x, 2).dequantize().tolist()
    [[[[[7.0]]]]]
    """
    return _pooled("max_pool3d", input, kernel_size, stride, padding, dilation, ceil_mode)
