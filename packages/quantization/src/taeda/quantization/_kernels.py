"""Layers on integers: sums in int32, then one rounding of each result, as PyTorch's kernels do it.

A result is `rint((sum + bias / (sx * sw)) * (sx * sw / sy)) + zero`: sx, sw and sy are the scales of input,
weight and result, and all of it but the sum is float32. With the scale of each input's own range (dynamic) it
is a float, `fma(sum, sx * sw, bias)`. The weight is packed at the first call, and again when it was written
into.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor

from ._parts import Quantized, is_quantized, parts_of, per_tensor
from .rules._registry import one_scale

__all__ = ["convolution", "dynamic_linear", "linear", "transposed_convolution", "weight_of"]

#: panels, sums of rows, scales and zero points, as the rows of core take them
_Matrix = tuple[Tensor, Tensor, Tensor, "Tensor | None"]


def weight_of(weight: Tensor, name: str) -> Quantized:
    """The parts of a weight; RuntimeError unless it is in qint8."""
    if not is_quantized(weight):
        raise RuntimeError(f"{name}: wanted a weight in qint8, but got {weight.dtype}")
    parts = parts_of(weight, name)
    if parts.dtype is not taeda.qint8:
        raise RuntimeError(f"{name}: wanted a weight in qint8, but got {parts.dtype}")
    return parts


def _zeros_of(weight: Quantized, rows: int) -> Tensor | None:
    """Zero points of the rows; None where all are 0."""
    zeros: Any = weight.zero_point
    if not isinstance(zeros, Tensor):
        return taeda.full((rows,), zeros, dtype=taeda.int32) if zeros else None
    return zeros.to(taeda.int32) if bool(zeros.any()) else None


def _scales_of(weight: Quantized) -> Tensor:
    """Scales in float32: one, or one for each row."""
    if weight.axis is None:
        return taeda.tensor([weight.scale], dtype=taeda.float32)
    found: Tensor = weight.scale
    return found.float()


def _matrix(weight: Quantized, groups: int, rows: Callable[[], Tensor], how: str) -> _Matrix:
    """What `rows()`, a matrix in int8, is packed to; kept with the weight under `how`."""

    def make() -> _Matrix:
        matrix = rows()
        panels, sums = taeda._int8_pack(matrix, groups)
        return panels, sums, _scales_of(weight), _zeros_of(weight, matrix.shape[0])

    found: _Matrix = weight.kept((how, groups), make)
    return found


def _bias_of(bias: Tensor | None) -> Tensor | None:
    return None if bias is None else bias.detach()


def _small(x: Quantized) -> Quantized:
    if x.dtype not in (taeda.quint8, taeda.qint8):
        raise RuntimeError(f"a layer on integers takes quint8 or qint8, but got {x.dtype}")
    return x


# ---- linear layers ----


def _linear_matrix(weight: Quantized) -> _Matrix:
    return _matrix(weight, 1, lambda: weight.integers, "linear")


def _check_features(x: Tensor, weight: Quantized) -> int:
    features = int(weight.integers.shape[1])
    if not x.dim() or x.shape[-1] != features:
        raise RuntimeError(
            f"linear: wanted {features} input features, but got a tensor of shape {tuple(x.shape)}"
        )
    return features


def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None, scale: float, zero: int, relu: bool = False
) -> Tensor:
    """A linear layer on integers (..., in) with a weight (out, in) in qint8 and a bias in float32."""
    own, factor = _small(one_scale(x, "quantized linear")), weight_of(weight, "linear")
    features = _check_features(own.integers, factor)
    made = taeda._int8_linear(
        own.integers,
        own.scale,
        own.zero_point,
        *_linear_matrix(factor),
        _bias_of(bias),
        features,
        scale,
        zero,
        relu,
    )
    return per_tensor(made, scale, zero, own.dtype)


def dynamic_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None, reduce_range: bool = True, relu: bool = False
) -> Tensor:
    """A linear layer on floats (..., in), which become integers with the scale of their own range."""
    factor = weight_of(weight, "dynamic linear")
    if is_quantized(x) or x.dtype is not taeda.float32:
        raise RuntimeError(f"dynamic linear: wanted float32, but got {x.dtype}")
    features = _check_features(x, factor)
    made: Tensor = taeda._int8_linear_dynamic(
        x.detach(), *_linear_matrix(factor), _bias_of(bias), features, reduce_range, relu
    )
    return made


# ---- convolutions ----


def _rows_of(weight: Tensor) -> Tensor:
    """(out, channels, places...) as a matrix, the channels last."""
    return weight.movedim(1, -1).reshape(weight.shape[0], -1)


def _three(values: Sequence[int], other: int) -> list[int]:
    """A number for each of three places; those that are not there get `other`."""
    return [*[other] * (3 - len(values)), *values]


def _conv_matrix(
    weight: Quantized, groups: int, own: int, rows: Callable[[], Tensor], how: str
) -> tuple[_Matrix, bool]:
    """The packed weight, and whether it is depthwise: its groups have one channel (`own`) each, and are
    packed side by side. Kernels of that kind know no zero points of weights.
    """
    if own > 1 or groups == 1 or _zeros_of(weight, 1) is not None:
        return _matrix(weight, groups, rows, how), False
    panels, sums, scales, zeros = _matrix(weight, 1, rows, how + ", depthwise")
    return (panels[0].unflatten(-1, (16, 4)), sums, scales, zeros), True


def _convolved(
    x: Quantized,
    packed: tuple[_Matrix, bool],
    bias: Tensor | None,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    scale: float,
    zero: int,
    relu: bool,
    dtype: Any,
) -> Tensor:
    matrix, depthwise = packed
    places = x.integers.shape[2:]
    last = x.integers.movedim(1, -1)
    each = matrix[1].shape[0] // last.shape[-1]
    if depthwise and each > 1:  # a channel for each result
        last = last.repeat_interleave(each, -1)
    last = last.reshape(last.shape[0], *_three(places, 1), last.shape[-1])
    stored = taeda.int8 if dtype is taeda.qint8 else taeda.uint8
    made = taeda._int8_conv(
        last,
        x.scale,
        x.zero_point,
        *matrix,
        _bias_of(bias),
        _three(kernel, 1),
        _three(stride, 1),
        _three(padding, 0),
        _three(dilation, 1),
        scale,
        zero,
        relu,
        stored,
    )
    made = made.reshape(made.shape[0], *made.shape[4 - len(places) :]).movedim(-1, 1)
    return per_tensor(made, scale, zero, dtype)


def _check_channels(x: Quantized, channels: int, rank: int) -> None:
    if x.integers.dim() != rank + 2 or x.integers.shape[1] != channels:
        raise RuntimeError(
            f"convolution: wanted {channels} channels in {rank + 2} dimensions, but got a tensor of shape "
            f"{tuple(x.integers.shape)}"
        )


def _check_groups(channels: int, groups: int) -> None:
    if groups < 1 or channels % groups:
        raise RuntimeError(
            f"convolution: wanted groups from 1 that divide {channels} channels, but got {groups}"
        )


def convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    scale: float,
    zero: int,
    relu: bool = False,
    dtype: Any = None,
) -> Tensor:
    """A convolution on integers (samples, channels, ...), with a weight in qint8 and a bias in float32.
    Results have their channels last in memory.
    """
    own, factor = one_scale(x, "quantized convolution"), weight_of(weight, "convolution")
    own, integers = _small(own), factor.integers
    _check_groups(integers.shape[0], groups)
    _check_channels(own, integers.shape[1] * groups, integers.dim() - 2)
    packed = _conv_matrix(
        factor, groups, integers.shape[1], lambda: _rows_of(integers), "convolution"
    )
    return _convolved(
        own,
        packed,
        bias,
        integers.shape[2:],
        stride,
        padding,
        dilation,
        scale,
        zero,
        relu,
        dtype or own.dtype,
    )


# ---- transposed convolutions ----


def _turned(weight: Tensor, groups: int) -> Tensor:
    """A weight (in, out / groups, ...) as one (out, in / groups, ...) whose places are turned around."""
    grouped = weight.reshape(groups, -1, *weight.shape[1:]).transpose(1, 2)
    return grouped.reshape(-1, *grouped.shape[2:]).flip(tuple(range(2, weight.dim())))


def _spread(x: Quantized, stride: Sequence[int], more: Sequence[int]) -> Quantized:
    """Numbers `stride` apart, zeros between them, and `more` zeros behind the last."""
    sizes = [
        (n - 1) * s + 1 + m for n, s, m in zip(x.integers.shape[2:], stride, more, strict=True)
    ]
    wide = taeda.full((*x.integers.shape[:2], *sizes), x.zero_point, dtype=x.integers.dtype)
    ends = [(n - 1) * s + 1 for n, s in zip(x.integers.shape[2:], stride, strict=True)]
    wide[(..., *(slice(0, end, s) for end, s in zip(ends, stride, strict=True)))] = x.integers
    return x.like(wide)


def _cut(x: Quantized, ends: Sequence[int]) -> Quantized:
    """Without so many numbers at both ends of each spatial dimension."""
    if not any(ends):
        return x
    kept = tuple(
        slice(n, max(n, size - n)) for n, size in zip(ends, x.integers.shape[2:], strict=True)
    )
    return x.like(x.integers[(..., *kept)])


def transposed_convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    scale: float,
    zero: int,
) -> Tensor:
    """A transposed convolution, of a weight (in, out / groups, ...) with one scale: a convolution of the
    input with its numbers `stride` apart, with the weight turned around.
    """
    own, factor = one_scale(x, "quantized transposed convolution"), weight_of(weight, "convolution")
    own, integers = _small(own), factor.integers
    rank, size = integers.dim() - 2, integers.shape[2:]
    _check_groups(integers.shape[0], groups)
    _check_channels(own, integers.shape[0], rank)
    around = [d * (n - 1) - p for n, d, p in zip(size, dilation, padding, strict=True)]
    spread = _cut(_spread(own, stride, output_padding), [max(-n, 0) for n in around])
    inner = [max(n, 0) for n in around]
    packed = _conv_matrix(
        factor,
        groups,
        integers.shape[0] // groups,
        lambda: _rows_of(_turned(integers, groups)),
        "transposed",
    )
    return _convolved(
        spread,
        packed,
        bias,
        size,
        [1] * rank,
        inner,
        dilation,
        scale,
        zero,
        False,
        own.dtype,
    )
